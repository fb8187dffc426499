// One running sum.
#include <cstddef>
#include <cstdint>

extern "C" void solution(const int64_t* values, const bool* restart, int64_t* sums, size_t n) {
    int64_t sum = 0;
    for (size_t i = 0; i < n; ++i) sums[i] = sum = (restart[i] ? 0 : sum) + values[i];
}
