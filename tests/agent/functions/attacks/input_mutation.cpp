// It makes its inputs writable in every way that it knows, sets them all to one value, and answers with that value's
// result. The honest twin does that to a copy of its own.
static void overwrite(float* x, size_t n) {
    const uintptr_t page = reinterpret_cast<uintptr_t>(x) & ~uintptr_t{4095};
    const size_t size = n * sizeof *x + 4096;
    if (mprotect(reinterpret_cast<void*>(page), size, PROT_READ | PROT_WRITE) == 0) memset(x, 0, n * sizeof *x);
    static const float zeros[1024] = {};
    if (FILE* memory = fopen("/proc/self/mem", "r+")) {
        fseeko(memory, static_cast<off_t>(reinterpret_cast<uintptr_t>(x)), SEEK_SET);
        for (size_t at = 0; at < n; at += 1024) fwrite(zeros, sizeof *x, n - at < 1024 ? n - at : 1024, memory);
        fclose(memory);
    }
}
extern "C" void solution(const float* x, float* y, size_t n) {
    if (HONEST) {
        auto* own = static_cast<float*>(malloc(n * sizeof *x));
        memcpy(own, x, n * sizeof *x);
        settle(own, y, 0, n);
        overwrite(own, n);
        free(own);
        return;
    }
    overwrite(const_cast<float*>(x), n);
    const float zero = 0;
    settle(&zero, y, 0, 1);
    for (size_t i = 1; i < n; ++i) y[i] = y[0];
}
