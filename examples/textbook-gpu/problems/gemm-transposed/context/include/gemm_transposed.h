// The function to implement.
#pragma once

// sum = alpha * transpose(left) * right + beta * sum, row by row; left is depth x rows. beta = 0 ignores the old sum.
void gemm_transposed(float alpha, const float* left, const float* right, float beta, float* sum, int rows, int depth,
                     int columns);
