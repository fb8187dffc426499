// The function to implement.
#pragma once

// Merges (a_keys, a_items) and (b_keys, b_items), both ascending by key, into (keys, items); ties: a first.
void stable_merge(const int* a_keys, const int* a_items, int a_count, const int* b_keys, const int* b_items, int b_count,
                  int* keys, int* items);
