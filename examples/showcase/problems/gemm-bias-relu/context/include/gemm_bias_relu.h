// The function to implement.
#pragma once

#include <cuda_fp16.h>

// C = max(A * B + bias, 0) for row-major matrices in device memory: A is m x k, B is k x n, C is m x n, and `bias` has
// one value per column of C. m, n, k >= 1. Sums are taken in at least single precision.
void gemm_bias_relu(const __half* a, const __half* b, const __half* bias, __half* c, int m, int n, int k);
