#include <cufft.h>

#include <algorithm>
#include <map>
#include <utility>

#include "fft_convolution.h"

// cuFFT by portions whose spectra stay in the L2 cache between the transform there, the product and the way back.
namespace {

constexpr size_t portion_values = size_t{1} << 21;

__global__ void multiply(cufftComplex* spectra, const cufftComplex* filter, int bins, float scale) {
    cufftComplex* spectrum = spectra + size_t(blockIdx.y) * bins;
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= bins) return;
    const cufftComplex a = spectrum[i], b = __ldg(filter + i);
    spectrum[i] = make_float2((a.x * b.x - a.y * b.y) * scale, (a.x * b.y + a.y * b.x) * scale);
}

struct Plans {
    cufftHandle forward = 0, backward = 0;
};

const Plans& plans_for(int n, int count) {
    static std::map<std::pair<int, int>, Plans> known;
    Plans& plans = known[{n, count}];
    if (plans.forward == 0) {
        cufftPlan1d(&plans.forward, n, CUFFT_R2C, count);
        cufftPlan1d(&plans.backward, n, CUFFT_C2R, count);
    }
    return plans;
}

cufftComplex* memory_for(size_t values) {
    static cufftComplex* memory = nullptr;
    static size_t held = 0;
    if (values > held) {
        cudaFree(memory);
        cudaMalloc(&memory, values * sizeof(cufftComplex));
        held = values;
    }
    return memory;
}

}  // namespace

void fft_convolution(const float* signals, const float* filter, float* out, int batch, int n) {
    const int bins = n / 2 + 1;
    const int portion = int(std::clamp<size_t>(portion_values / n, 1, batch));
    // A transform's rows start where they may be read two floats at a time.
    const size_t filter_room = (size_t(bins) + 31) / 32 * 32;
    cufftComplex* filter_spectrum = memory_for(filter_room + size_t(portion) * bins);
    cufftComplex* spectra = filter_spectrum + filter_room;
    cufftExecR2C(plans_for(n, 1).forward, const_cast<float*>(filter), filter_spectrum);
    for (int start = 0; start < batch; start += portion) {
        const int count = std::min(portion, batch - start);
        const Plans& plans = plans_for(n, count);
        cufftExecR2C(plans.forward, const_cast<float*>(signals + size_t(start) * n), spectra);
        multiply<<<dim3((bins + 255) / 256, count), 256>>>(spectra, filter_spectrum, bins, 1.0f / n);
        cufftExecC2R(plans.backward, spectra, out + size_t(start) * n);
    }
}
