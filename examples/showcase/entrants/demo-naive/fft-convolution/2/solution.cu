#include <cufft.h>

#include "fft_convolution.h"

// Pads with zeros to twice the length, as one does where signals end instead of going round.
__global__ void pad(const float* from, float* to, int n, size_t size) {
    const size_t i = blockIdx.x * size_t{blockDim.x} + threadIdx.x;
    if (i >= size) return;
    const size_t row = i / (2 * n), place = i % (2 * n);
    to[i] = place < size_t(n) ? from[row * n + place] : 0.0f;
}

__global__ void multiply(cufftComplex* spectra, const cufftComplex* filter, int bins, size_t size) {
    const size_t i = blockIdx.x * size_t{blockDim.x} + threadIdx.x;
    if (i < size) spectra[i] = cuCmulf(spectra[i], filter[i % bins]);
}

__global__ void cut(const float* from, float* to, int n, size_t size) {
    const size_t i = blockIdx.x * size_t{blockDim.x} + threadIdx.x;
    if (i < size) to[i] = from[i / n * 2 * n + i % n] / (2 * n);
}

void fft_convolution(const float* signals, const float* filter, float* out, int batch, int n) {
    const int bins = n + 1;
    const size_t size = size_t(batch) * n, padded_size = 2 * size, all_bins = size_t(batch) * bins;
    float *padded = nullptr, *padded_filter = nullptr;
    cufftComplex *spectra = nullptr, *filter_spectrum = nullptr;
    cudaMalloc(&padded, padded_size * sizeof(float));
    cudaMalloc(&padded_filter, 2 * n * sizeof(float));
    cudaMalloc(&spectra, all_bins * sizeof(cufftComplex));
    cudaMalloc(&filter_spectrum, bins * sizeof(cufftComplex));
    cufftHandle forward, backward, one;
    cufftPlan1d(&forward, 2 * n, CUFFT_R2C, batch);
    cufftPlan1d(&backward, 2 * n, CUFFT_C2R, batch);
    cufftPlan1d(&one, 2 * n, CUFFT_R2C, 1);
    pad<<<(padded_size + 255) / 256, 256>>>(signals, padded, n, padded_size);
    pad<<<(2 * n + 255) / 256, 256>>>(filter, padded_filter, n, 2 * n);
    cufftExecR2C(forward, padded, spectra);
    cufftExecR2C(one, padded_filter, filter_spectrum);
    multiply<<<(all_bins + 255) / 256, 256>>>(spectra, filter_spectrum, bins, all_bins);
    cufftExecC2R(backward, spectra, padded);
    cut<<<(size + 255) / 256, 256>>>(padded, out, n, size);
    cudaDeviceSynchronize();
    cufftDestroy(forward);
    cufftDestroy(backward);
    cufftDestroy(one);
    cudaFree(padded);
    cudaFree(padded_filter);
    cudaFree(spectra);
    cudaFree(filter_spectrum);
}
