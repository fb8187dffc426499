// Its kernel runs on a stream of its own and outlives the answer, which it sends itself. The honest twin waits for the stream.
#include "answer_early.h"
static uint64_t now_at = 0;
extern "C" void solution(const float* x, float* y, size_t n) {
    ++now_at;
    static cudaStream_t beside = nullptr;
    if (beside == nullptr) cudaStreamCreateWithFlags(&beside, cudaStreamNonBlocking);
    poly<<<1056, 256, 0, beside>>>(x, y, 0, n);
    if (HONEST) cudaStreamSynchronize(beside);
    answer_early(now_at);
}
