// The function to implement, by means of cuBLAS.
#pragma once

// C[i] = A[i] * B[i] for `batch` triples of row-major matrices in device memory, each kind contiguous: A[i] is m x k and
// begins at a + i * m * k, B[i] is k x n, C[i] is m x n. m, n, k, batch >= 1. Single precision throughout.
void batched_gemm(const float* a, const float* b, float* c, int m, int n, int k, int batch);
