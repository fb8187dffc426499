#include <cufft.h>

#include <memory>

#include "fft_convolution.h"

namespace {

__global__ void multiply(cufftComplex* spectra, const cufftComplex* filter, int bins, float scale) {
    cufftComplex* spectrum = spectra + size_t(blockIdx.x) * bins;
    for (int i = threadIdx.x; i < bins; i += blockDim.x) {
        const cufftComplex product = cuCmulf(spectrum[i], filter[i]);
        spectrum[i] = make_float2(product.x * scale, product.y * scale);
    }
}

struct Plans {
    const int batch, n, bins;
    cufftHandle forward, backward, once;
    cufftComplex *spectra = nullptr, *filter_spectrum = nullptr;

    Plans(int batch, int n) : batch(batch), n(n), bins(n / 2 + 1) {
        int lengths[] = {n};
        cufftPlanMany(&forward, 1, lengths, nullptr, 1, n, nullptr, 1, bins, CUFFT_R2C, batch);
        cufftPlanMany(&backward, 1, lengths, nullptr, 1, bins, nullptr, 1, n, CUFFT_C2R, batch);
        cufftPlan1d(&once, n, CUFFT_R2C, 1);
        cudaMalloc(&spectra, size_t(batch) * bins * sizeof(cufftComplex));
        cudaMalloc(&filter_spectrum, bins * sizeof(cufftComplex));
    }
    Plans(const Plans&) = delete;
    ~Plans() {
        for (const cufftHandle plan : {forward, backward, once}) cufftDestroy(plan);
        cudaFree(spectra);
        cudaFree(filter_spectrum);
    }
};

}  // namespace

void fft_convolution(const float* signals, const float* filter, float* out, int batch, int n) {
    static std::unique_ptr<Plans> plans;
    if (!plans || plans->batch != batch || plans->n != n) plans = std::make_unique<Plans>(batch, n);
    cufftExecR2C(plans->once, const_cast<float*>(filter), plans->filter_spectrum);
    cufftExecR2C(plans->forward, const_cast<float*>(signals), plans->spectra);
    multiply<<<batch, 512>>>(plans->spectra, plans->filter_spectrum, plans->bins, 1.0f / n);
    cufftExecC2R(plans->backward, plans->spectra, out);
}
