#include <cufft.h>
#include <thrust/execution_policy.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/for_each.h>

#include <map>
#include <utility>

#include "fft_convolution.h"

// Transforms by cuFFT, and what lies between them by Thrust.
namespace {

struct Multiply {
    cufftComplex* spectra;
    const cufftComplex* filter;
    size_t bins;
    float scale;
    __device__ void operator()(size_t i) const {
        const cufftComplex product = cuCmulf(spectra[i], filter[i % bins]);
        spectra[i] = make_float2(product.x * scale, product.y * scale);
    }
};

cufftHandle plan_for(int n, cufftType type, int count) {
    static std::map<std::pair<int, std::pair<int, int>>, cufftHandle> known;
    cufftHandle& plan = known[{n, {int(type), count}}];
    if (plan == 0) cufftPlan1d(&plan, n, type, count);
    return plan;
}

cufftComplex* grown(cufftComplex*& memory, size_t& held, size_t values) {
    if (values > held) {
        cudaFree(memory);
        cudaMalloc(&memory, values * sizeof(cufftComplex));
        held = values;
    }
    return memory;
}

}  // namespace

void fft_convolution(const float* signals, const float* filter, float* out, int batch, int n) {
    static cufftComplex *spectra_memory = nullptr, *filter_memory = nullptr;
    static size_t spectra_held = 0, filter_held = 0;
    const size_t bins = n / 2 + 1, size = bins * batch;
    cufftComplex* spectra = grown(spectra_memory, spectra_held, size);
    cufftComplex* filter_spectrum = grown(filter_memory, filter_held, bins);
    cufftExecR2C(plan_for(n, CUFFT_R2C, 1), const_cast<float*>(filter), filter_spectrum);
    cufftExecR2C(plan_for(n, CUFFT_R2C, batch), const_cast<float*>(signals), spectra);
    const thrust::counting_iterator<size_t> start(0);
    thrust::for_each(thrust::device, start, start + size, Multiply{spectra, filter_spectrum, bins, 1.0f / n});
    cufftExecC2R(plan_for(n, CUFFT_C2R, batch), spectra, out);
}
