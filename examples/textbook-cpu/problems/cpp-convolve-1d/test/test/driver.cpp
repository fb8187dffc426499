// Makes the harness's calls of convolve_1d.
#include "driver.h"

// Repeated from the context on purpose: the driver includes nothing that a solution may replace.
void convolve_1d(const float* signal, const float* weights, float* result, int count, int radius);

int main() { return textbook::serve(convolve_1d); }
