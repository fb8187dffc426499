// The function to implement.
#pragma once

// product = left * transpose(right), row by row: rows x depth times depth x columns.
void tiled_matmul(const float* left, const float* right, float* product, int rows, int depth, int columns);
