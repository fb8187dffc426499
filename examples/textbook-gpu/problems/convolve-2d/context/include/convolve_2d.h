// The function to implement.
#pragma once

// Sums of weighted neighbours; the filter's anchor is at (filter_rows / 2, filter_columns / 2), edges are repeated.
void convolve_2d(const float* image, const float* weights, float* filtered, int rows, int columns, int filter_rows,
                 int filter_columns);
