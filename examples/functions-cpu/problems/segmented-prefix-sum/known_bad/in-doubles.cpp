#include <cstddef>
#include <cstdint>

extern "C" void solution(const int64_t* values, const bool* restart, int64_t* sums, size_t n) {
    double sum = 0;
    for (size_t i = 0; i < n; ++i) {
        sum = restart[i] ? double(values[i]) : sum + double(values[i]);
        sums[i] = int64_t(sum);
    }
}
