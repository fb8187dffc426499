// What the demo's C++ harnesses share: fresh seeds, a small random stream, and failing in words.
#pragma once

#include <unistd.h>

#include <cstdint>
#include <cstdio>

inline bool failed(const char* what) {
    std::fprintf(stderr, "FAILED: %s\n", what);
    return false;
}

// Drawn from the operating system, so that no solution can know an input before it runs.
inline std::uint64_t fresh_seed() {
    std::uint64_t seed = 0;
    if (getentropy(&seed, sizeof seed) != 0) failed("the system gave no entropy");
    return seed;
}

// splitmix64: one addition and three mixes per number, so that making inputs costs little of a benchmark.
class Random {
  public:
    explicit Random(std::uint64_t seed) : state_(seed) {}

    std::uint64_t next() {
        std::uint64_t mixed = (state_ += 0x9e3779b97f4a7c15u);
        mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9u;
        mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebu;
        return mixed ^ (mixed >> 31);
    }

    // Uniform enough for test data; `bound` > 0.
    std::uint64_t below(std::uint64_t bound) { return next() % bound; }

    int between(int low, int high) { return low + static_cast<int>(below(static_cast<std::uint64_t>(high - low + 1))); }

  private:
    std::uint64_t state_;
};
