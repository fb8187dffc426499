// One running sum of 64 bits.
#include <cstddef>
#include <cstdint>

extern "C" void solution(const int32_t* values, int64_t* sums, size_t n) {
    int64_t sum = 0;
    for (size_t i = 0; i < n; ++i) {
        sums[i] = sum;
        sum += values[i];
    }
}
