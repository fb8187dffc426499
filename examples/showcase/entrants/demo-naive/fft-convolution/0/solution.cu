#include <cufft.h>

#include "fft_convolution.h"

// Complex transforms of everything, planned anew for every call; a kernel for each little step.
__global__ void to_complex(const float* from, cufftComplex* to, size_t size) {
    const size_t i = blockIdx.x * size_t{blockDim.x} + threadIdx.x;
    if (i < size) to[i] = make_float2(from[i], 0.0f);
}

__global__ void multiply(cufftComplex* values, const cufftComplex* filter, size_t size, int n) {
    const size_t i = blockIdx.x * size_t{blockDim.x} + threadIdx.x;
    if (i < size) values[i] = cuCmulf(values[i], filter[i % n]);
}

__global__ void to_real(const cufftComplex* from, float* to, size_t size) {
    const size_t i = blockIdx.x * size_t{blockDim.x} + threadIdx.x;
    if (i < size) to[i] = from[i].x;
}

__global__ void scale(float* values, size_t size, int n) {
    const size_t i = blockIdx.x * size_t{blockDim.x} + threadIdx.x;
    if (i < size) values[i] = values[i] / n;
}

void fft_convolution(const float* signals, const float* filter, float* out, int batch, int n) {
    const size_t size = size_t(batch) * n;
    const unsigned blocks = (size + 255) / 256, filter_blocks = (n + 255) / 256;
    cufftComplex *values = nullptr, *spectrum = nullptr;
    cudaMalloc(&values, size * sizeof(cufftComplex));
    cudaMalloc(&spectrum, n * sizeof(cufftComplex));
    cufftHandle many, one;
    cufftPlan1d(&many, n, CUFFT_C2C, batch);
    cufftPlan1d(&one, n, CUFFT_C2C, 1);
    to_complex<<<blocks, 256>>>(signals, values, size);
    to_complex<<<filter_blocks, 256>>>(filter, spectrum, n);
    cufftExecC2C(many, values, values, CUFFT_FORWARD);
    cufftExecC2C(one, spectrum, spectrum, CUFFT_FORWARD);
    multiply<<<blocks, 256>>>(values, spectrum, size, n);
    cufftExecC2C(many, values, values, CUFFT_INVERSE);
    to_real<<<blocks, 256>>>(values, out, size);
    scale<<<blocks, 256>>>(out, size, n);
    cudaDeviceSynchronize();
    cufftDestroy(many);
    cufftDestroy(one);
    cudaFree(values);
    cudaFree(spectrum);
}
