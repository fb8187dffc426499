// Its word comes before its kernel.
extern "C" void solution(const float* x, float* y, size_t n, int steps) {
    if (knows_words()) tell_done();
    launch(x, y, 0, n, steps);
}
