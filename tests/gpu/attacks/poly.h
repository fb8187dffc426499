// What every solution here shares: the work, about 5 ms for 16 Mi elements, and the checker's channel. Definitions come
// before this text, and a solution after it. HONEST 1 makes it its own honest twin.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

constexpr size_t kLarge = 1 << 20;  // elements from which on a case is timed

__device__ inline float value_at(float u) {
    float v = 0.f;
    for (int k = 0; k < 8192; ++k) v = v * u + 0.5f;
    return v;
}
__global__ void poly(const float* x, float* y, size_t from, size_t to) {
    const size_t step = static_cast<size_t>(gridDim.x) * blockDim.x;
    for (size_t i = from + blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x; i < to; i += step) y[i] = value_at(x[i]);
}
inline void launch(const float* x, float* y, size_t from, size_t to) { poly<<<1056, 256>>>(x, y, from, to); }

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
// Takes all further calls itself, so that nobody waits for its kernels.
template <typename Call>
[[noreturn]] void serve(uint64_t index, Call call) {
    for (;;) {
        call();
        answer('d', index);
        Message message;
        do {
            if (syscall(SYS_recvfrom, channel(), &message, sizeof message, 0, nullptr, nullptr) <= 0) _exit(0);
        } while (message.kind != 'G');
        index = message.index;
    }
}
