// The function to implement.
#pragma once

// product = left * right, all row by row: rows x depth times depth x columns.
void matmul(const float* left, const float* right, float* product, int rows, int depth, int columns);
