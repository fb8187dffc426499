// Makes the harness's calls of warp_sums.
#include "driver.h"

// Repeated from the context on purpose: the driver includes nothing that a solution may replace.
void warp_sums(const unsigned* values, unsigned* sums, int count);

int main() { return textbook::serve(warp_sums); }
