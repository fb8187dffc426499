// The function to implement.
#pragma once

// Each row of `sorted` = the same row of `matrix` in ascending order; rows x columns, row by row.
void row_sort(const int* matrix, int* sorted, int rows, int columns);
