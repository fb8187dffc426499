#include <cstddef>
#include <cstdint>

// Adds to what `counts` holds before the call.
__global__ void count(const float* values, unsigned long long* counts, size_t n) {
    const size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (i >= n) return;
    const float at = floorf(values[i] * 4096);
    if (at >= 0 && at < 4096) atomicAdd(&counts[int(at)], 1ull);
}

extern "C" void solution(const float* values, int64_t* counts, size_t n) {
    count<<<(n + 255) / 256, 256>>>(values, reinterpret_cast<unsigned long long*>(counts), n);
}
