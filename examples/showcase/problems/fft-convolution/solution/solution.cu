#include <cufft.h>

#include "fft_convolution.h"

namespace {

// Multiplies every spectrum by the filter's, and by 1 / n because cuFFT's transforms there and back scale by n.
__global__ void multiply(cufftComplex* spectra, const cufftComplex* filter, int bins, size_t size, float scale) {
    const size_t i = blockIdx.x * size_t{blockDim.x} + threadIdx.x;
    if (i >= size) return;
    const cufftComplex a = spectra[i], b = filter[i % bins];
    spectra[i] = make_cuFloatComplex((a.x * b.x - a.y * b.y) * scale, (a.x * b.y + a.y * b.x) * scale);
}

// Plans and memory for one shape, kept until another comes.
struct Plans {
    int batch, n, bins;
    cufftHandle forward = 0, backward = 0, filter_forward = 0;
    cufftComplex *spectra = nullptr, *filter_spectrum = nullptr;

    Plans(int batch, int n) : batch(batch), n(n), bins(n / 2 + 1) {
        cufftPlan1d(&forward, n, CUFFT_R2C, batch);
        cufftPlan1d(&backward, n, CUFFT_C2R, batch);
        cufftPlan1d(&filter_forward, n, CUFFT_R2C, 1);
        cudaMalloc(&spectra, sizeof(cufftComplex) * bins * batch);
        cudaMalloc(&filter_spectrum, sizeof(cufftComplex) * bins);
    }
    ~Plans() {
        cufftDestroy(forward);
        cufftDestroy(backward);
        cufftDestroy(filter_forward);
        cudaFree(spectra);
        cudaFree(filter_spectrum);
    }
};

Plans& plans_for(int batch, int n) {
    static Plans* plans = nullptr;
    if (plans == nullptr || plans->batch != batch || plans->n != n) {
        delete plans;
        plans = new Plans(batch, n);
    }
    return *plans;
}

}  // namespace

void fft_convolution(const float* signals, const float* filter, float* out, int batch, int n) {
    Plans& plans = plans_for(batch, n);
    cufftExecR2C(plans.filter_forward, const_cast<float*>(filter), plans.filter_spectrum);
    cufftExecR2C(plans.forward, const_cast<float*>(signals), plans.spectra);
    const size_t size = size_t(plans.bins) * batch;
    multiply<<<(size + 255) / 256, 256>>>(plans.spectra, plans.filter_spectrum, plans.bins, size, 1.0f / n);
    cufftExecC2R(plans.backward, plans.spectra, out);
}
