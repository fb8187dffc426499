#include <algorithm>
#include <cstddef>
#include <cstdint>

extern "C" void solution(const int32_t* values, int64_t* counts, int64_t* outside, int32_t lower, int32_t width, size_t n, size_t bins) {
    std::fill(counts, counts + bins, 0);
    *outside = 0;
    for (size_t i = 0; i + 4 <= n; i += 4) {
        for (size_t j = i; j < i + 4; ++j) {
            const int32_t offset = values[j] - lower;
            if (offset >= 0 && size_t(offset / width) < bins) ++counts[offset / width];
            else ++*outside;
        }
    }
}
