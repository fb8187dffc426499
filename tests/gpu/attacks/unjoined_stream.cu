// Its kernel runs on a stream that does not wait for the default stream, and that nothing joins. The honest twin joins it.
extern "C" void solution(const float* x, float* y, size_t n) {
    static cudaStream_t beside = nullptr;
    static cudaEvent_t done = nullptr;
    if (beside == nullptr) {
        cudaStreamCreateWithFlags(&beside, cudaStreamNonBlocking);
        cudaEventCreateWithFlags(&done, cudaEventDisableTiming);
    }
    poly<<<1056, 256, 0, beside>>>(x, y, 0, n);
    if (!HONEST) return;
    cudaEventRecord(done, beside);
    cudaStreamWaitEvent(nullptr, done, 0);
}
