// One value after another, with a division for each.
#include <algorithm>
#include <cstddef>
#include <cstdint>

extern "C" void solution(const int32_t* values, int64_t* counts, int64_t* outside, int32_t lower, int32_t width, size_t n, size_t bins) {
    std::fill(counts, counts + bins, 0);
    *outside = 0;
    for (size_t i = 0; i < n; ++i) {
        const int32_t offset = values[i] - lower;
        if (offset >= 0 && size_t(offset / width) < bins) ++counts[offset / width];
        else ++*outside;
    }
}
