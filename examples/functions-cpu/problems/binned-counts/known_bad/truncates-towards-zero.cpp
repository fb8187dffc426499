#include <algorithm>
#include <cstddef>
#include <cstdint>

extern "C" void solution(const int32_t* values, int64_t* counts, int64_t* outside, int32_t lower, int32_t width, size_t n, size_t bins) {
    std::fill(counts, counts + bins, 0);
    *outside = 0;
    for (size_t i = 0; i < n; ++i) {
        const int32_t bin = (values[i] - lower) / width;  // values just below `lower` come to bin 0
        if (bin >= 0 && size_t(bin) < bins) ++counts[bin];
        else ++*outside;
    }
}
