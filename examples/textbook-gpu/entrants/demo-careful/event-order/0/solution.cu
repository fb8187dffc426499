#include "event_order.h"

__global__ static void make_middle(const int* input, int* middle, int count) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) middle[i] = 3 * input[i] + 1;
}

__global__ static void make_output(const int* middle, int* output, int count) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        output[count - 1 - i] = middle[i] - (count - 1 - i);
    }
}

void event_order(const int* input, int* middle, int* output, int count, cudaStream_t first, cudaStream_t second) {
    cudaEvent_t is_made = nullptr;
    cudaEventCreateWithFlags(&is_made, cudaEventDisableTiming);
    make_middle<<<64, 256, 0, first>>>(input, middle, count);
    cudaEventRecord(is_made, first);
    cudaStreamWaitEvent(second, is_made, 0);
    make_output<<<64, 256, 0, second>>>(middle, output, count);
    cudaEventDestroy(is_made);
}
