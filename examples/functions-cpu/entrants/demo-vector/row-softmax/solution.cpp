// Each pass over a row is one loop without branches, which compilers turn into vector instructions.
#pragma GCC optimize("O3,no-trapping-math")
#include <cstddef>
#include <cstdint>
#include <cstring>

// e^z for z <= 0: a power of two times a polynomial of the rest, within 4e-7; e^-87 below -87.
static inline float exp_of_negative(float z) {
    const float clamped = z < -87.0f ? -87.0f : z;
    const float rounder = 12582912.0f;  // 1.5 * 2^23: adding it rounds to an integer
    const float whole = (clamped * 1.44269504f + rounder) - rounder;
    const float rest = (clamped - whole * 0.693359375f) + whole * 2.12194440e-4f;
    float power = 1.0f / 720;
    power = power * rest + 1.0f / 120;
    power = power * rest + 1.0f / 24;
    power = power * rest + 1.0f / 6;
    power = power * rest + 0.5f;
    power = power * rest + 1.0f;
    power = power * rest + 1.0f;
    const int32_t bits = (int32_t(whole) + 127) << 23;
    float scale;
    std::memcpy(&scale, &bits, sizeof scale);
    return power * scale;
}

static float largest_of(const float* x, size_t cols) {
    float lanes[16];
    for (float& lane : lanes) lane = x[0];
    size_t i = 0;
    for (; i + 16 <= cols; i += 16)
        for (size_t j = 0; j < 16; ++j) lanes[j] = lanes[j] < x[i + j] ? x[i + j] : lanes[j];
    float largest = lanes[0];
    for (const float lane : lanes) largest = largest < lane ? lane : largest;
    for (; i < cols; ++i) largest = largest < x[i] ? x[i] : largest;
    return largest;
}

static float sum_of(const float* y, size_t cols) {
    float lanes[16] = {};
    size_t i = 0;
    for (; i + 16 <= cols; i += 16)
        for (size_t j = 0; j < 16; ++j) lanes[j] += y[i + j];
    float sum = 0;
    for (const float lane : lanes) sum += lane;
    for (; i < cols; ++i) sum += y[i];
    return sum;
}

extern "C" void solution(const float* x, float* y, float temperature, size_t rows, size_t cols) {
    const float inverse = 1.0f / temperature;
    for (size_t row = 0; row < rows; ++row, x += cols, y += cols) {
        const float largest = largest_of(x, cols);
        for (size_t i = 0; i < cols; ++i) y[i] = exp_of_negative((x[i] - largest) * inverse);
        const float share = 1.0f / sum_of(y, cols);
        for (size_t i = 0; i < cols; ++i) y[i] *= share;
    }
}
