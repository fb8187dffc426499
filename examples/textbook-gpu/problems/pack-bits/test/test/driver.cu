// Makes the harness's calls of pack_bits.
#include "driver.h"

// Repeated from the context on purpose: the driver includes nothing that a solution may replace.
void pack_bits(const float* values, float threshold, unsigned* words, int count);

int main() { return textbook::serve(pack_bits); }
