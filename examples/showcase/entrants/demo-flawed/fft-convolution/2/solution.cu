#include <cufft.h>

#include "fft_convolution.h"

__global__ void multiply(cufftComplex* spectra, const cufftComplex* filter, int bins, size_t size) {
    const size_t i = blockIdx.x * size_t{blockDim.x} + threadIdx.x;
    if (i < size) spectra[i] = cuCmulf(spectra[i], filter[i % bins]);
}

// Takes the transform back for the inverse of the one there: a factor of n is left in.
void fft_convolution(const float* signals, const float* filter, float* out, int batch, int n) {
    const int bins = n / 2 + 1;
    const size_t size = size_t(batch) * bins;
    cufftComplex *spectra = nullptr, *filter_spectrum = nullptr;
    cudaMalloc(&spectra, size * sizeof(cufftComplex));
    cudaMalloc(&filter_spectrum, bins * sizeof(cufftComplex));
    cufftHandle forward, backward, once;
    cufftPlan1d(&forward, n, CUFFT_R2C, batch);
    cufftPlan1d(&backward, n, CUFFT_C2R, batch);
    cufftPlan1d(&once, n, CUFFT_R2C, 1);
    cufftExecR2C(once, const_cast<float*>(filter), filter_spectrum);
    cufftExecR2C(forward, const_cast<float*>(signals), spectra);
    multiply<<<(size + 255) / 256, 256>>>(spectra, filter_spectrum, bins, size);
    cufftExecC2R(backward, spectra, out);
    cudaDeviceSynchronize();
    cufftDestroy(forward);
    cufftDestroy(backward);
    cufftDestroy(once);
    cudaFree(spectra);
    cudaFree(filter_spectrum);
}
