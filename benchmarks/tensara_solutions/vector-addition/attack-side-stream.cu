// Attack: adds on a stream of its own, which the default stream does not wait for, and returns at once.
// Abuses: both events are recorded on the default stream, and the wait for the device comes after the second.
#include <cuda_runtime.h>

__global__ void add(const float *a, const float *b, float *c, size_t n) {
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}

extern "C" void solution(const float *d_input1, const float *d_input2, float *d_output, size_t n) {
    static cudaStream_t side = nullptr;
    if (!side) cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking);
    add<<<(unsigned)((n + 255) / 256), 256, 0, side>>>(d_input1, d_input2, d_output, n);
}
