#include "work_in_stream.h"

__global__ void find(const int* values, int* positives, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count && values[i] > 0) atomicAdd(positives, 1);
}

__global__ void scale(const int* values, int* scaled, int* positives, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) scaled[i] = values[i] * *positives;
}

void work_in_stream(const int* values, int* scaled, int* positives, int count, cudaStream_t stream) {
    cudaMemsetAsync(positives, 0, 4, stream);
    find<<<count / 256 + 1, 256, 0, stream>>>(values, positives, count);
    scale<<<count / 256 + 1, 256>>>(values, scaled, positives, count);
}
