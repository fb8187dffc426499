// Tests and times sort_keys. `./harness` tests patterns that break weak sorts; `./harness benchmark` sorts a million keys.
#include <algorithm>
#include <cstddef>
#include <vector>

#include "support.h"

// Repeated from the context on purpose: the harness includes nothing that a solution may replace.
void sort_keys(std::uint32_t* keys, std::size_t count);

namespace {

using Keys = std::vector<std::uint32_t>;

constexpr std::size_t guard = 16;
constexpr std::uint32_t guard_value = 0xdeadbeef;

bool keys_pass(const char* pattern, const Keys& keys) {
    Keys expected = keys, given = keys;
    std::sort(expected.begin(), expected.end());
    expected.insert(expected.end(), guard, guard_value);
    given.insert(given.end(), guard, guard_value);
    sort_keys(given.data(), keys.size());
    if (given == expected) return true;
    std::fprintf(stderr, "FAILED: %zu keys, %s: not sorted, or wrote behind the end\n", keys.size(), pattern);
    return false;
}

template <typename Make>
Keys made(std::size_t count, Make make) {
    Keys keys(count);
    for (std::size_t i = 0; i < count; ++i) keys[i] = static_cast<std::uint32_t>(make(i));
    return keys;
}

bool patterns_pass(Random& random, std::size_t n) {
    return keys_pass("random", made(n, [&](std::size_t) { return random.next(); })) &&
           keys_pass("sorted", made(n, [](std::size_t i) { return i * 7; })) &&
           keys_pass("reversed", made(n, [n](std::size_t i) { return (n - i) * 5; })) &&
           keys_pass("all equal", made(n, [](std::size_t) { return 42; })) &&
           keys_pass("organ pipe", made(n, [n](std::size_t i) { return std::min(i, n - i); })) &&
           keys_pass("few values", made(n, [&](std::size_t) { return random.below(3); })) &&
           keys_pass("top byte", made(n, [&](std::size_t) { return random.below(256) << 24; })) &&
           keys_pass("low byte", made(n, [&](std::size_t) { return 0xabcdef00u | random.below(256); })) &&
           keys_pass("extremes", made(n, [&](std::size_t) { return random.below(2) - 1; })) &&
           keys_pass("signs", made(n, [&](std::size_t) { return 0x7ffffff0u + random.below(32); }));
}

bool tests() {
    Random random(fresh_seed());
    for (std::size_t n = 0; n <= 40; ++n) {
        if (!patterns_pass(random, n)) return false;
    }
    for (const std::size_t n : {255u, 256u, 257u, 1000u, 4099u, 65537u, 300001u}) {
        if (!patterns_pass(random, n)) return false;
    }
    return true;
}

// A fingerprint that does not depend on the order; `salt` is drawn after the sort, so that no other keys can be fitted to it.
std::uint64_t fingerprint(const Keys& keys, std::uint64_t salt) {
    std::uint64_t sum = 0;
    for (const std::uint64_t key : keys) {
        const std::uint64_t mixed = (key ^ salt) * 0x9e3779b97f4a7c15u;
        sum += (mixed ^ (mixed >> 29)) * 0xbf58476d1ce4e5b9u;
    }
    return sum;
}

bool benchmark() {
    Random random(fresh_seed());
    Keys keys = made(1u << 20, [&](std::size_t) { return random.next(); });
    const Keys kept = keys;
    sort_keys(keys.data(), keys.size());
    const std::uint64_t salt = fresh_seed();
    const bool holds = std::is_sorted(keys.begin(), keys.end()) && fingerprint(keys, salt) == fingerprint(kept, salt);
    return holds || failed("the benchmark's keys are not sorted");
}

}  // namespace

int main(int argc, char**) {
    return (argc > 1 ? benchmark() : tests()) ? 0 : 1;
}
