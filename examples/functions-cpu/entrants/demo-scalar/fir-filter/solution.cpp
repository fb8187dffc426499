// One result after another.
#include <cstddef>

extern "C" void solution(const float* signal, const float* taps, float* filtered, size_t channels, size_t n, size_t k, size_t m) {
    for (size_t channel = 0; channel < channels; ++channel)
        for (size_t i = 0; i < m; ++i) {
            float sum = 0;
            for (size_t tap = 0; tap < k; ++tap) sum += taps[tap] * signal[channel * n + i + tap];
            filtered[channel * m + i] = sum;
        }
}
