// A transform of complex numbers in global memory: one thread for each pair, and one launch for each stage.
#include <cmath>
#include <cstddef>

constexpr int THREADS = 256;

// Copies each row in the order of its reversed bits.
__global__ void reverse(const float* x, float2* numbers, size_t count, size_t n) {
    const size_t i = blockIdx.x * size_t(THREADS) + threadIdx.x;
    if (i >= count) return;
    size_t reversed = 0;
    for (size_t bit = 1; bit < n; bit *= 2) reversed = 2 * reversed + (i % n & bit ? 1 : 0);
    numbers[i].x = x[i / n * n + reversed];
    numbers[i].y = 0;
}

// Makes the transforms of `2 half` numbers from pairs of transforms of `half`.
__global__ void combine(float2* numbers, size_t pairs, size_t half) {
    const size_t pair = blockIdx.x * size_t(THREADS) + threadIdx.x;
    if (pair >= pairs) return;
    const size_t place = pair % half, even = pair / half * 2 * half + place, odd = even + half;
    const double angle = -3.14159265358979323846 * place / half;
    const float re = float(cos(angle)), im = float(sin(angle));
    const float2 left = numbers[even], right = numbers[odd];
    const float turned_x = re * right.x - im * right.y, turned_y = re * right.y + im * right.x;
    numbers[even].x = left.x + turned_x;
    numbers[even].y = left.y + turned_y;
    numbers[odd].x = left.x - turned_x;
    numbers[odd].y = left.y - turned_y;
}

__global__ void measure(const float2* numbers, float* power, size_t count, size_t n) {
    const size_t i = blockIdx.x * size_t(THREADS) + threadIdx.x, bins = n / 2 + 1;
    if (i >= count) return;
    const float2 one = numbers[i / bins * n + i % bins];
    power[i] = (one.x * one.x + one.y * one.y) / n;
}

static size_t blocks(size_t count) { return (count + THREADS - 1) / THREADS; }

extern "C" void solution(const float* x, float* power, size_t batch, size_t n) {
    static float2* numbers = nullptr;  // kept from call to call
    static size_t room = 0;
    if (room < batch * n) {
        cudaFree(numbers);
        cudaMalloc(&numbers, batch * n * sizeof(float2));
        room = batch * n;
    }
    reverse<<<blocks(batch * n), THREADS>>>(x, numbers, batch * n, n);
    for (size_t half = 1; half < n; half *= 2) {
        combine<<<blocks(batch * n / 2), THREADS>>>(numbers, batch * n / 2, half);
    }
    measure<<<blocks(batch * (n / 2 + 1)), THREADS>>>(numbers, power, batch * (n / 2 + 1), n);
}
