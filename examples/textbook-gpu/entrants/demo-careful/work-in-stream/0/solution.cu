#include "work_in_stream.h"

__global__ static void clear(int* positives) { *positives = 0; }

__global__ static void count_positives(const int* values, int* positives, int count) {
    int mine = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) mine += values[i] > 0 ? 1 : 0;
    for (int distance = 16; distance > 0; distance /= 2) mine += __shfl_down_sync(0xffffffffu, mine, distance);
    if (threadIdx.x % 32 == 0) atomicAdd(positives, mine);
}

__global__ static void scale(const int* values, int* scaled, const int* positives, int count) {
    const int factor = *positives;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) scaled[i] = values[i] * factor;
}

void work_in_stream(const int* values, int* scaled, int* positives, int count, cudaStream_t stream) {
    clear<<<1, 1, 0, stream>>>(positives);
    count_positives<<<64, 256, 0, stream>>>(values, positives, count);
    scale<<<64, 256, 0, stream>>>(values, scaled, positives, count);
}
