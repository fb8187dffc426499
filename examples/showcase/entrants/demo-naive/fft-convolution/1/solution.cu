#include <cufft.h>

#include "fft_convolution.h"

// Real transforms, one signal after the other, each through the same pair of buffers.
__global__ void multiply(cufftComplex* spectrum, const cufftComplex* filter, int bins, float scale) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= bins) return;
    const cufftComplex product = cuCmulf(spectrum[i], filter[i]);
    spectrum[i] = make_float2(product.x * scale, product.y * scale);
}

void fft_convolution(const float* signals, const float* filter, float* out, int batch, int n) {
    const int bins = n / 2 + 1;
    cufftComplex *spectrum = nullptr, *filter_spectrum = nullptr;
    float* signal = nullptr;
    cudaMalloc(&signal, n * sizeof(float));
    cudaMalloc(&spectrum, bins * sizeof(cufftComplex));
    cudaMalloc(&filter_spectrum, bins * sizeof(cufftComplex));
    cufftHandle forward, backward;
    cufftPlan1d(&forward, n, CUFFT_R2C, 1);
    cufftPlan1d(&backward, n, CUFFT_C2R, 1);
    cufftExecR2C(forward, const_cast<float*>(filter), filter_spectrum);
    for (int s = 0; s < batch; ++s) {
        cudaMemcpyAsync(signal, signals + size_t(s) * n, n * sizeof(float), cudaMemcpyDeviceToDevice);
        cufftExecR2C(forward, signal, spectrum);
        multiply<<<(bins + 255) / 256, 256>>>(spectrum, filter_spectrum, bins, 1.0f / n);
        cufftExecC2R(backward, spectrum, signal);
        cudaMemcpyAsync(out + size_t(s) * n, signal, n * sizeof(float), cudaMemcpyDeviceToDevice);
    }
    cudaDeviceSynchronize();
    cufftDestroy(forward);
    cufftDestroy(backward);
    cudaFree(signal);
    cudaFree(spectrum);
    cudaFree(filter_spectrum);
}
