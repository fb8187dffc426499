#include "event_order.h"

__global__ void one(const int* input, int* middle, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) middle[i] = 3 * input[i] + 1;
}

__global__ void two(const int* middle, int* output, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) output[i] = middle[count - 1 - i] - i;
}

void event_order(const int* input, int* middle, int* output, int count, cudaStream_t first, cudaStream_t second) {
    one<<<count / 256 + 1, 256, 0, first>>>(input, middle, count);
    cudaStreamSynchronize(first);
    two<<<count / 256 + 1, 256, 0, second>>>(middle, output, count);
}
