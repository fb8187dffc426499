// What every solution here shares: the work, which is the same for each element, and the checker's channel.
// A solution follows this text. HONEST 1 makes it its own honest twin.
#define HONEST 0
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

constexpr int kRounds = 160;  // by then it has settled at the square root

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

struct Message {
    char magic[4] = {'P', 'D', 'F', '1'};
    uint8_t kind = 0, count = 0, device = 0, unused = 0;
    uint64_t index = 0;
};

inline int channel() { return atoi(getenv("PODIUM_CHANNEL_FD")); }

inline void answer(char kind, uint64_t index) {
    Message message;
    message.kind = static_cast<uint8_t>(kind);
    message.index = index;
    syscall(SYS_sendto, channel(), &message, sizeof message, MSG_NOSIGNAL, nullptr, 0);
}
