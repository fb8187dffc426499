#include "event_order.h"

__global__ static void make_middle(const int* input, int* middle, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) middle[i] = 3 * input[i] + 1;
}

__global__ static void make_output(const int* middle, int* output, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) output[i] = middle[count - 1 - i] - i;
}

void event_order(const int* input, int* middle, int* output, int count, cudaStream_t first, cudaStream_t second) {
    const int blocks = (count + 255) / 256;
    cudaEvent_t made = nullptr;
    cudaEventCreateWithFlags(&made, cudaEventDisableTiming);
    make_middle<<<blocks, 256, 0, first>>>(input, middle, count);
    cudaEventRecord(made, first);
    cudaStreamWaitEvent(second, made, 0);
    make_output<<<blocks, 256, 0, second>>>(middle, output, count);
    cudaEventDestroy(made);
}
