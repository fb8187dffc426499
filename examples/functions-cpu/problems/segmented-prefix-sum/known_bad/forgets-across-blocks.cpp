#include <algorithm>
#include <cstddef>
#include <cstdint>

extern "C" void solution(const int64_t* values, const bool* restart, int64_t* sums, size_t n) {
    for (size_t start = 0; start < n; start += 4096) {
        int64_t sum = 0;  // the sum of the block before is lost: small cases have one block
        for (size_t i = start; i < std::min(n, start + 4096); ++i) sums[i] = sum = (restart[i] ? 0 : sum) + values[i];
    }
}
