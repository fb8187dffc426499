// The function to implement.
#pragma once

#include <cstdint>

// Sorts (keys, items) by key into (sorted_keys, sorted_items); equal keys keep their order.
void counting_sort(const std::uint8_t* keys, const int* items, int count, std::uint8_t* sorted_keys, int* sorted_items);
