// A decoy kernel computes a hundredth in time; a thread launches the rest when the answer has long been sent. The honest
// twin joins the thread.
struct Work {
    const float* x;
    float* y;
    size_t n;
};
static void* do_the_rest(void* given) {
    const Work work = *static_cast<Work*>(given);
    delete static_cast<Work*>(given);
    usleep(3000);
    launch(work.x, work.y, work.n / 100, work.n);
    return nullptr;
}
extern "C" void solution(const float* x, float* y, size_t n) {
    launch(x, y, 0, n / 100);
    pthread_t thread;
    pthread_create(&thread, nullptr, do_the_rest, new Work{x, y, n});
    if (HONEST) pthread_join(thread, nullptr);
    else pthread_detach(thread);
}
