// What every solution here shares: the work, which is the same for each element, and the checker's channel.
// Definitions come before this text, and a solution after it. HONEST 1 makes it its own honest twin. Each file that is
// included in quotes is put in its place, because a solution is one file.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <time.h>
#include "channel.h"

constexpr int kRounds = ROUNDS;  // after 160 it has settled at the square root

inline void settle(const float* x, float* y, size_t from, size_t to) {
    constexpr size_t kBlock = 128;  // short enough for the registers and the first cache
    for (size_t start = from; start < to; start += kBlock) {
        const size_t size = to - start < kBlock ? to - start : kBlock;
        float wanted[kBlock] = {}, v[kBlock] = {};
        memcpy(wanted, x + start, size * sizeof *x);
        memcpy(v, wanted, sizeof v);
        for (int round = 0; round < kRounds; ++round)
            for (size_t i = 0; i < kBlock; ++i) v[i] += 0.125f * (wanted[i] - v[i] * v[i]);
        memcpy(y + start, v, size * sizeof *y);
    }
}
