// What every solution here shares: the work, about 5 ms for 16 Mi elements, and the checker's channel. Definitions come
// before this text, and a solution after it. HONEST 1 makes it its own honest twin. A header in quotes is one of the attacks
// on a CPU.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <pthread.h>
#include <time.h>
#include "channel.h"

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
