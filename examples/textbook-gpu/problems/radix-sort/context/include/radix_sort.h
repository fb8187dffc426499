// The function to implement.
#pragma once

// sorted = values in ascending order.
void radix_sort(const int* values, int* sorted, int count);
