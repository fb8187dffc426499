// Sixty-four results at a time stay in vector registers while all taps pass.
#include <cstddef>
#include <cstring>

typedef float Sixteen __attribute__((vector_size(64)));

static void sixty_four(const float* signal, const float* taps, float* filtered, size_t k) {
    Sixteen sums[4] = {}, values;
    for (size_t tap = 0; tap < k; ++tap)
        for (size_t part = 0; part < 4; ++part) {
            std::memcpy(&values, signal + tap + 16 * part, sizeof values);
            sums[part] += taps[tap] * values;
        }
    std::memcpy(filtered, sums, sizeof sums);
}

extern "C" void solution(const float* signal, const float* taps, float* filtered, size_t channels, size_t n, size_t k, size_t m) {
    for (size_t channel = 0; channel < channels; ++channel, signal += n, filtered += m) {
        size_t i = 0;
        for (; i + 64 <= m; i += 64) sixty_four(signal + i, taps, filtered + i, k);
        for (; i < m; ++i) {
            float sum = 0;
            for (size_t tap = 0; tap < k; ++tap) sum += taps[tap] * signal[i + tap];
            filtered[i] = sum;
        }
    }
}
