// Makes the harness's calls of counting_sort.
#include "driver.h"

// Repeated from the context on purpose: the driver includes nothing that a solution may replace.
void counting_sort(const std::uint8_t* keys, const int* items, int count, std::uint8_t* sorted_keys, int* sorted_items);

int main() { return textbook::serve(counting_sort); }
