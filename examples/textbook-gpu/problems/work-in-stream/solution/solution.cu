#include "work_in_stream.h"

__global__ static void count_positives(const int* values, int* positives, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count && values[i] > 0) atomicAdd(positives, 1);
}

__global__ static void scale(const int* values, int* scaled, const int* positives, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) scaled[i] = values[i] * *positives;
}

void work_in_stream(const int* values, int* scaled, int* positives, int count, cudaStream_t stream) {
    const int blocks = (count + 255) / 256;
    cudaMemsetAsync(positives, 0, sizeof *positives, stream);
    if (blocks == 0) return;
    count_positives<<<blocks, 256, 0, stream>>>(values, positives, count);
    scale<<<blocks, 256, 0, stream>>>(values, scaled, positives, count);
}
