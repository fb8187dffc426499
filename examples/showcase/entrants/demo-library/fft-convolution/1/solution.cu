#include <cufft.h>

#include "fft_convolution.h"

// Two signals ride in one complex transform: a real filter keeps real and imaginary parts apart.
namespace {

__global__ void pack(const float* signals, cufftComplex* pairs, int batch, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int first = 2 * blockIdx.y;
    if (i >= n) return;
    const float real = signals[size_t(first) * n + i];
    const float imaginary = first + 1 < batch ? signals[size_t(first + 1) * n + i] : 0.0f;
    pairs[size_t(blockIdx.y) * n + i] = make_float2(real, imaginary);
}

__global__ void lift(const float* filter, cufftComplex* spectrum, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) spectrum[i] = make_float2(filter[i] / n, 0.0f);
}

__global__ void multiply(cufftComplex* pairs, const cufftComplex* spectrum, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    cufftComplex* pair = pairs + size_t(blockIdx.y) * n;
    if (i < n) pair[i] = cuCmulf(pair[i], spectrum[i]);
}

__global__ void unpack(const cufftComplex* pairs, float* out, int batch, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int first = 2 * blockIdx.y;
    if (i >= n) return;
    const cufftComplex pair = pairs[size_t(blockIdx.y) * n + i];
    out[size_t(first) * n + i] = pair.x;
    if (first + 1 < batch) out[size_t(first + 1) * n + i] = pair.y;
}

struct State {
    int batch = 0, n = 0;
    cufftHandle many = 0, one = 0;
    cufftComplex *pairs = nullptr, *spectrum = nullptr;

    void fit(int wanted_batch, int wanted_n) {
        if (batch == wanted_batch && n == wanted_n) return;
        if (n != 0) {
            cufftDestroy(many);
            cufftDestroy(one);
            cudaFree(pairs);
            cudaFree(spectrum);
        }
        batch = wanted_batch;
        n = wanted_n;
        const int count = (batch + 1) / 2;
        cufftPlan1d(&many, n, CUFFT_C2C, count);
        cufftPlan1d(&one, n, CUFFT_C2C, 1);
        cudaMalloc(&pairs, size_t(count) * n * sizeof(cufftComplex));
        cudaMalloc(&spectrum, n * sizeof(cufftComplex));
    }
};

}  // namespace

void fft_convolution(const float* signals, const float* filter, float* out, int batch, int n) {
    static State state;
    state.fit(batch, n);
    const dim3 line((n + 255) / 256), grid((n + 255) / 256, (batch + 1) / 2);
    lift<<<line, 256>>>(filter, state.spectrum, n);
    pack<<<grid, 256>>>(signals, state.pairs, batch, n);
    cufftExecC2C(state.one, state.spectrum, state.spectrum, CUFFT_FORWARD);
    cufftExecC2C(state.many, state.pairs, state.pairs, CUFFT_FORWARD);
    multiply<<<grid, 256>>>(state.pairs, state.spectrum, n);
    cufftExecC2C(state.many, state.pairs, state.pairs, CUFFT_INVERSE);
    unpack<<<grid, 256>>>(state.pairs, out, batch, n);
}
