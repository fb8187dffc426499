#include <cufft.h>

#include "fft_convolution.h"

// Two signals as one complex one in shared memory, transformed there and back without leaving the chip. Padding keeps
// bank conflicts away, and the twiddles come out of a table.
namespace {

constexpr int length = 16384, quarter = length / 4, threads = 512;
constexpr int shared_bytes = (length + length / 16) * int(sizeof(float2));

__device__ int at(int i) { return i + i / 16; }

__device__ float2 times(float2 a, float2 b) { return make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x); }
__device__ float2 plus(float2 a, float2 b) { return make_float2(a.x + b.x, a.y + b.y); }
__device__ float2 minus(float2 a, float2 b) { return make_float2(a.x - b.x, a.y - b.y); }
__device__ float2 conjugate(float2 a) { return make_float2(a.x, -a.y); }
__device__ float2 turned(float2 a) { return make_float2(-a.y, a.x); }

// exp(-2 pi i position / (4 half))
template <int half>
__device__ float2 twiddle(int position, const float2* table) {
    return __ldg(table + position * (quarter / half));
}

__global__ void make_table(float2* table) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float2 value;
    sincospif(i * (-2.0f / length), &value.y, &value.x);
    if (i < quarter) table[i] = value;
}

// The four results of a step of radix 4, before the twiddles; `back` for the inverse.
template <bool back>
__device__ void butterfly(float2 (&z)[4]) {
    const float2 even_sum = plus(z[0], z[2]), even_difference = minus(z[0], z[2]);
    const float2 odd_sum = plus(z[1], z[3]), odd_turned = turned(minus(z[1], z[3]));
    z[0] = plus(even_sum, odd_sum);
    z[2] = minus(even_sum, odd_sum);
    z[1] = back ? plus(even_difference, odd_turned) : minus(even_difference, odd_turned);
    z[3] = back ? minus(even_difference, odd_turned) : plus(even_difference, odd_turned);
}

template <int half>
__device__ void forward_twiddles(float2 (&z)[4], int position, const float2* table) {
    const float2 once = twiddle<half>(position, table);
    const float2 twice = times(once, once);
    z[1] = times(z[1], once);
    z[2] = times(z[2], twice);
    z[3] = times(z[3], times(twice, once));
}

template <int half>
__device__ void backward_twiddles(float2 (&z)[4], int position, const float2* table) {
    const float2 once = conjugate(twiddle<half>(position, table));
    const float2 twice = times(once, once);
    z[1] = times(z[1], once);
    z[2] = times(z[2], twice);
    z[3] = times(z[3], times(twice, once));
}

// One step in shared memory, on groups of 4 * half values.
template <int half, bool back>
__device__ void step(float2* values, const float2* table) {
    for (int j = threadIdx.x; j < quarter; j += threads) {
        const int position = j % half, base = j / half * 4 * half + position;
        float2 z[4];
#pragma unroll
        for (int r = 0; r < 4; ++r) z[r] = values[at(base + r * half)];
        if (back) backward_twiddles<half>(z, position, table);
        butterfly<back>(z);
        if (!back) forward_twiddles<half>(z, position, table);
#pragma unroll
        for (int r = 0; r < 4; ++r) values[at(base + r * half)] = z[r];
    }
    __syncthreads();
}

__device__ void first_step(float2* values, const float* first, const float* second, const float2* table) {
    for (int j = threadIdx.x; j < quarter; j += threads) {
        float2 z[4];
#pragma unroll
        for (int r = 0; r < 4; ++r) {
            const int i = j + r * quarter;
            z[r] = make_float2(first[i], second == nullptr ? 0.0f : second[i]);
        }
        butterfly<false>(z);
        forward_twiddles<quarter>(z, j, table);
#pragma unroll
        for (int r = 0; r < 4; ++r) values[at(j + r * quarter)] = z[r];
    }
    __syncthreads();
}

__device__ void last_step(const float2* values, float* first, float* second, const float2* table) {
    for (int j = threadIdx.x; j < quarter; j += threads) {
        float2 z[4];
#pragma unroll
        for (int r = 0; r < 4; ++r) z[r] = values[at(j + r * quarter)];
        backward_twiddles<quarter>(z, j, table);
        butterfly<true>(z);
#pragma unroll
        for (int r = 0; r < 4; ++r) {
            first[j + r * quarter] = z[r].x;
            if (second != nullptr) second[j + r * quarter] = z[r].y;
        }
    }
}

__device__ void forward_middle(float2* values, const float2* table) {
    step<1024, false>(values, table);
    step<256, false>(values, table);
    step<64, false>(values, table);
    step<16, false>(values, table);
    step<4, false>(values, table);
}

__device__ void backward_middle(float2* values, const float2* table) {
    step<4, true>(values, table);
    step<16, true>(values, table);
    step<64, true>(values, table);
    step<256, true>(values, table);
    step<1024, true>(values, table);
}

// The filter's spectrum over n, in the order in which the transform leaves it.
__global__ void __launch_bounds__(threads) transform_filter(const float* filter, float2* spectrum,
                                                            const float2* table) {
    extern __shared__ float2 values[];
    first_step(values, filter, nullptr, table);
    forward_middle(values, table);
    for (int j = threadIdx.x; j < quarter; j += threads) {
        float2 z[4];
#pragma unroll
        for (int r = 0; r < 4; ++r) z[r] = values[at(4 * j + r)];
        butterfly<false>(z);
#pragma unroll
        for (int r = 0; r < 4; ++r) spectrum[4 * j + r] = make_float2(z[r].x / length, z[r].y / length);
    }
}

// Two real signals are one complex one, and stay apart under a real filter.
__global__ void __launch_bounds__(threads) convolve_pairs(const float* signals, const float2* spectrum, float* out,
                                                          int batch, const float2* table) {
    extern __shared__ float2 values[];
    const size_t start = size_t(blockIdx.x) * 2 * length;
    const bool paired = 2 * int(blockIdx.x) + 1 < batch;
    first_step(values, signals + start, paired ? signals + start + length : nullptr, table);
    forward_middle(values, table);
    for (int j = threadIdx.x; j < quarter; j += threads) {
        const float4* factors = reinterpret_cast<const float4*>(spectrum + 4 * j);
        const float4 low = __ldg(factors), high = __ldg(factors + 1);
        float2 z[4];
#pragma unroll
        for (int r = 0; r < 4; ++r) z[r] = values[at(4 * j + r)];
        butterfly<false>(z);
        z[0] = times(z[0], make_float2(low.x, low.y));
        z[1] = times(z[1], make_float2(low.z, low.w));
        z[2] = times(z[2], make_float2(high.x, high.y));
        z[3] = times(z[3], make_float2(high.z, high.w));
        butterfly<true>(z);
#pragma unroll
        for (int r = 0; r < 4; ++r) values[at(4 * j + r)] = z[r];
    }
    __syncthreads();
    backward_middle(values, table);
    last_step(values, out + start, paired ? out + start + length : nullptr, table);
}

// Any other length goes through cuFFT.
__global__ void multiply(cufftComplex* spectra, const cufftComplex* filter, int bins, size_t size, float scale) {
    const size_t i = blockIdx.x * size_t{blockDim.x} + threadIdx.x;
    if (i >= size) return;
    const cufftComplex product = cuCmulf(spectra[i], filter[i % bins]);
    spectra[i] = make_float2(product.x * scale, product.y * scale);
}

void convolve_any(const float* signals, const float* filter, float* out, int batch, int n) {
    const int bins = n / 2 + 1;
    const size_t size = size_t(bins) * batch;
    cufftComplex *spectra = nullptr, *filter_spectrum = nullptr;
    cudaMalloc(&spectra, size * sizeof(cufftComplex));
    cudaMalloc(&filter_spectrum, bins * sizeof(cufftComplex));
    cufftHandle forward, backward, one;
    cufftPlan1d(&forward, n, CUFFT_R2C, batch);
    cufftPlan1d(&backward, n, CUFFT_C2R, batch);
    cufftPlan1d(&one, n, CUFFT_R2C, 1);
    cufftExecR2C(one, const_cast<float*>(filter), filter_spectrum);
    cufftExecR2C(forward, const_cast<float*>(signals), spectra);
    multiply<<<(size + 255) / 256, 256>>>(spectra, filter_spectrum, bins, size, 1.0f / n);
    cufftExecC2R(backward, spectra, out);
    cudaDeviceSynchronize();
    cufftDestroy(forward);
    cufftDestroy(backward);
    cufftDestroy(one);
    cudaFree(spectra);
    cudaFree(filter_spectrum);
}

}  // namespace

void fft_convolution(const float* signals, const float* filter, float* out, int batch, int n) {
    if (n != length) {
        convolve_any(signals, filter, out, batch, n);
        return;
    }
    static float2* spectrum = nullptr;
    static float2* table = nullptr;
    if (spectrum == nullptr) {
        cudaMalloc(&spectrum, length * sizeof(float2));
        cudaMalloc(&table, quarter * sizeof(float2));
        make_table<<<quarter / 256, 256>>>(table);
        cudaFuncSetAttribute(transform_filter, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes);
        cudaFuncSetAttribute(convolve_pairs, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes);
    }
    transform_filter<<<1, threads, shared_bytes>>>(filter, spectrum, table);
    convolve_pairs<<<(batch + 1) / 2, threads, shared_bytes>>>(signals, spectrum, out, batch, table);
}
