// Makes the harness's calls of clipped_histogram.
#include "driver.h"

// Repeated from the context on purpose: the driver includes nothing that a solution may replace.
void clipped_histogram(const int* values, int count, unsigned* bins, int bin_count);

int main() { return textbook::serve(clipped_histogram); }
