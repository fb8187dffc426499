// Blocks that transform row by row in shared memory. The n real numbers are taken for n / 2 complex ones; a last step takes
// the spectra of even and odd places apart.
#include <cstddef>

constexpr int THREADS = 256, MOST = 2048, BLOCKS = 4096;

__device__ float2 times(float2 left, float2 right) {
    return make_float2(left.x * right.x - left.y * right.y, left.x * right.y + left.y * right.x);
}

// Stockham's transform of m numbers; the result is in the returned array, and roots[j] = exp(-pi i j / m).
__device__ float2* transform(float2* from, float2* to, const float2* roots, int m) {
    for (int stride = 1; stride < m; stride *= 2) {
        __syncthreads();
        for (int i = threadIdx.x; i < m / 2; i += THREADS) {
            const int inner = i % stride, outer = i - inner;
            const float2 left = from[i], right = from[i + m / 2];
            const float2 difference = make_float2(left.x - right.x, left.y - right.y);
            to[2 * outer + inner] = make_float2(left.x + right.x, left.y + right.y);
            to[2 * outer + inner + stride] = times(difference, roots[2 * outer]);
        }
        float2* other = from;
        from = to;
        to = other;
    }
    __syncthreads();
    return from;
}

__device__ float power_of(const float2* spectrum, const float2* roots, int bin, int m) {
    const float2 here = spectrum[bin % m], mirrored = spectrum[(m - bin) % m];
    const float2 even = make_float2((here.x + mirrored.x) / 2, (here.y - mirrored.y) / 2);
    const float2 odd = make_float2((here.y + mirrored.y) / 2, (mirrored.x - here.x) / 2);
    const float2 turned = times(odd, bin < m ? roots[bin] : make_float2(-1, 0));
    const float re = even.x + turned.x, im = even.y + turned.y;
    return (re * re + im * im) / (2 * m);
}

__global__ void spectra(const float* x, float* power, size_t batch, int m) {
    __shared__ float2 one[MOST], two[MOST], roots[MOST];
    for (int i = threadIdx.x; i < m; i += THREADS) sincospif(-float(i) / m, &roots[i].y, &roots[i].x);
    for (size_t row = blockIdx.x; row < batch; row += gridDim.x) {
        const float2* pairs = reinterpret_cast<const float2*>(x) + row * m;
        for (int i = threadIdx.x; i < m; i += THREADS) one[i] = pairs[i];
        const float2* spectrum = transform(one, two, roots, m);
        for (int bin = threadIdx.x; bin <= m; bin += THREADS) power[row * (m + 1) + bin] = power_of(spectrum, roots, bin, m);
        __syncthreads();
    }
}

extern "C" void solution(const float* x, float* power, size_t batch, size_t n) {
    spectra<<<batch < BLOCKS ? batch : BLOCKS, THREADS>>>(x, power, batch, int(n / 2));
}
