// The function to implement.
#pragma once

#include <cuda_runtime.h>

// In `first`: middle[i] = 3 * input[i] + 1. In `second`, after that: output[i] = middle[count - 1 - i] - i.
void event_order(const int* input, int* middle, int* output, int count, cudaStream_t first, cudaStream_t second);
