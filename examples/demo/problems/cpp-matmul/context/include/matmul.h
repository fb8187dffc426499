// The function to implement.
#pragma once

// C = A * B for row-major matrices: A is m x k, B is k x n, C is m x n; m, k, n >= 1.
// C holds arbitrary bytes on entry. A, B and C do not overlap.
void matmul(const float* a, const float* b, float* c, int m, int k, int n);
