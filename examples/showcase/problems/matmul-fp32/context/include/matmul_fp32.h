// The function to implement.
#pragma once

#include <cstddef>

// c = a * b: a is m x k, b is k x n, c is m x n, all row-major.
// Device pointers, aligned as by cudaMalloc. `c` holds arbitrary values on entry; any size may be 0.
void matmul_fp32(const float* a, const float* b, float* c, std::size_t m, std::size_t n, std::size_t k);
