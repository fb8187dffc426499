// Tests and times histogram. `./harness` tests sizes, alignments and skews; `./harness benchmark` counts 32 times 4 MiB.
#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include "support.h"

// Repeated from the context on purpose: the harness includes nothing that a solution may replace.
void histogram(const std::uint8_t* data, std::size_t size, std::uint32_t* counts);

namespace {

using Counts = std::array<std::uint32_t, 256>;
using Bytes = std::vector<std::uint8_t>;

constexpr std::size_t guard = 16;
constexpr std::uint32_t guard_value = 0xdeadbeef;

bool counts_hold(const std::uint8_t* data, std::size_t size, const Counts& expected) {
    std::array<std::uint32_t, 256 + guard> counts;
    counts.fill(guard_value);
    histogram(data, size, counts.data());
    for (int value = 0; value < 256; ++value) {
        if (counts[value] != expected[value]) {
            std::fprintf(stderr, "FAILED: size %zu: counts[%d] is %u, not %u\n", size, value, counts[value], expected[value]);
            return false;
        }
    }
    for (std::size_t i = 256; i < counts.size(); ++i) {
        if (counts[i] != guard_value) return failed("wrote behind the end of counts");
    }
    return true;
}

bool bytes_pass(const Bytes& bytes, std::size_t offset) {
    const Bytes kept = bytes;
    Counts expected{};
    for (std::size_t i = offset; i < kept.size(); ++i) ++expected[kept[i]];
    return counts_hold(bytes.data() + offset, bytes.size() - offset, expected) &&
           (bytes == kept || failed("changed its input"));
}

Bytes random_bytes(Random& random, std::size_t size, int values) {
    Bytes bytes(size);
    for (auto& byte : bytes) byte = static_cast<std::uint8_t>(random.below(static_cast<std::uint64_t>(values)));
    return bytes;
}

bool small_sizes_pass(Random& random) {
    for (std::size_t size = 0; size <= 70; ++size) {
        for (std::size_t offset = 0; offset <= size && offset < 9; ++offset) {
            if (!bytes_pass(random_bytes(random, size, 256), offset)) return false;
        }
    }
    return true;
}

// One value often enough to overflow 8, 16 and 24 bit counters.
bool single_values_pass() {
    for (const int value : {0, 127, 128, 255}) {
        if (!bytes_pass(Bytes((1u << 24) + 3, static_cast<std::uint8_t>(value)), 1)) return false;
    }
    return true;
}

bool tests() {
    Random random(fresh_seed());
    if (!small_sizes_pass(random) || !single_values_pass()) return false;
    for (const int values : {1, 2, 3, 16, 255, 256}) {
        for (const std::size_t size : {1000u, 4096u, 65537u, 200001u}) {
            if (!bytes_pass(random_bytes(random, size, values), random.below(8))) return false;
        }
    }
    return true;
}

// Stretches of one repeated byte, white every other time, and now and then a noisy one, as in a scanned page.
Bytes page_like_bytes(Random& random, std::size_t size) {
    Bytes bytes(size);
    for (std::size_t i = 0; i < size;) {
        const std::size_t end = std::min(size, i + 1 + random.below(1024));
        const std::uint64_t kind = random.below(8);
        const std::uint64_t value = kind % 2 == 0 ? 255 : random.next();
        for (; i < end; ++i) bytes[i] = static_cast<std::uint8_t>(kind == 7 ? random.next() : value);
    }
    return bytes;
}

// Changes a few bytes and keeps `counts` right, so that every call must read all of its data anew.
void disturb(Bytes& bytes, Counts& counts, Random& random) {
    for (int change = 0; change < 1000; ++change) {
        std::uint8_t& byte = bytes[random.below(bytes.size())];
        --counts[byte];
        byte = static_cast<std::uint8_t>(random.next());
        ++counts[byte];
    }
}

bool benchmark() {
    constexpr std::size_t size = (4u << 20) + 3;
    constexpr int calls = 32;
    Random random(fresh_seed());
    Bytes bytes = page_like_bytes(random, size);
    Counts expected{};
    for (const std::uint8_t byte : bytes) ++expected[byte];
    for (int call = 0; call < calls; ++call) {
        disturb(bytes, expected, random);
        if (!counts_hold(bytes.data(), size, expected)) return false;
    }
    return true;
}

}  // namespace

int main(int argc, char**) {
    return (argc > 1 ? benchmark() : tests()) ? 0 : 1;
}
