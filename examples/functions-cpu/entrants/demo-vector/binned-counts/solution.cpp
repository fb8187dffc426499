// Four sets of counters, so that equal neighbours do not wait for each other, and a multiplication in place of the division.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

extern "C" void solution(const int32_t* values, int64_t* counts, int64_t* outside, int32_t lower, int32_t width, size_t n, size_t bins) {
    const uint64_t inverse = UINT64_MAX / uint64_t(width) + 1;  // exact quotients of 32-bit numbers
    const uint64_t span = uint64_t(bins) * uint64_t(width);
    std::vector<uint32_t> sets(4 * (bins + 1));  // the last counter of a set is for the values in no bin
    for (size_t i = 0; i < n; ++i) {
        const uint32_t offset = uint32_t(values[i] - lower);  // negative offsets become large
        const size_t quotient = size_t((unsigned __int128)(inverse) * offset >> 64);
        const size_t bin = values[i] >= lower && offset < span ? quotient : bins;
        ++sets[(i & 3) * (bins + 1) + bin];
    }
    const auto total = [&](size_t bin) {
        int64_t sum = 0;
        for (size_t set = 0; set < 4; ++set) sum += sets[set * (bins + 1) + bin];
        return sum;
    };
    for (size_t bin = 0; bin < bins; ++bin) counts[bin] = total(bin);
    *outside = total(bins);
}
