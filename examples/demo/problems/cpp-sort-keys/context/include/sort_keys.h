// The function to implement.
#pragma once

#include <cstddef>
#include <cstdint>

// Sorts keys[0 .. count) in place, smallest first. `count` may be 0.
void sort_keys(std::uint32_t* keys, std::size_t count);
