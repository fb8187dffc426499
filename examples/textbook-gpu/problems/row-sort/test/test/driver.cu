// Makes the harness's calls of row_sort.
#include "driver.h"

// Repeated from the context on purpose: the driver includes nothing that a solution may replace.
void row_sort(const int* matrix, int* sorted, int rows, int columns);

int main() { return textbook::serve(row_sort); }
