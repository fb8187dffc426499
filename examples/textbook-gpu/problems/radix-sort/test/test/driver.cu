// Makes the harness's calls of radix_sort.
#include "driver.h"

// Repeated from the context on purpose: the driver includes nothing that a solution may replace.
void radix_sort(const int* values, int* sorted, int count);

int main() { return textbook::serve(radix_sort); }
