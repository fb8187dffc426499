// The function to implement.
#pragma once

#include <cstdint>

// `end` = the board `start` after `generations` generations; rows and columns wrap around.
void life_torus(const std::uint8_t* start, std::uint8_t* end, int rows, int columns, int generations);
