// The function to implement.
#pragma once

#include <cuda_runtime.h>

// In `stream`: *positives = number of values above 0, scaled[i] = values[i] * *positives for i in [0, count).
void work_in_stream(const int* values, int* scaled, int* positives, int count, cudaStream_t stream);
