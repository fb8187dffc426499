// Makes the harness's calls of convolve_2d.
#include "driver.h"

// Repeated from the context on purpose: the driver includes nothing that a solution may replace.
void convolve_2d(const float* image, const float* weights, float* filtered, int rows, int columns, int filter_rows,
                 int filter_columns);

int main() { return textbook::serve(convolve_2d); }
