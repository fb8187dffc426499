// Uses the device in the way that its argument names, for the tests of profilers here. Prints a line of its own at most.
#include <cuda.h>
#include <cuda_runtime.h>
#include <dlfcn.h>
#include <nvtx3/nvToolsExt.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <vector>

static void check(cudaError_t error, int line) {
    if (error == cudaSuccess) return;
    std::fprintf(stderr, "line %d: %s\n", line, cudaGetErrorString(error));
    std::exit(2);
}
#define CHECK(call) check(call, __LINE__)

// Runs for a number of microseconds of the device's clock.
__global__ void spin(long long us) {
    long long begun, now;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(begun));
    do asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
    while (now - begun < us * 1000);
}
__global__ void empty() {}
template <class T>
__global__ void quoted(T us) {
    long long begun, now;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(begun));
    do asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
    while (now - begun < us * 1000);
}

static void launch(int times, long long us = 1000, cudaStream_t stream = 0) {
    for (int i = 0; i < times; ++i) spin<<<1, 1, 0, stream>>>(us);
    CHECK(cudaGetLastError());
}
static void settle() { CHECK(cudaDeviceSynchronize()); }
static void warm() { CHECK(cudaFree(0)); settle(); }
static double now_ms() {
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1e3 + now.tv_nsec / 1e6;
}
static nvtxEventAttributes_t attributes() {
    nvtxEventAttributes_t made{};
    made.version = NVTX_VERSION;
    made.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    return made;
}
template <class Body>
static void in_range(const char* name, Body body) {
    nvtxRangePushA(name);
    body();
    nvtxRangePop();
}

static void plain() {
    warm();
    in_range("bench_region", [] { launch(10); settle(); });
    launch(3), settle();
}
static void nested() {
    warm();
    in_range("outer", [] {
        launch(1), settle();
        in_range("inner", [] { launch(2), settle(); });
    });
}
static void one() { launch(1), settle(); }
static void wide() { nvtxRangePushW(L"wide \u65e5"), one(), nvtxRangePop(); }
static void registered(nvtxDomainHandle_t domain) {
    auto event = attributes();
    event.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
    event.message.registered = nvtxDomainRegisterStringA(domain, "registered");
    nvtxDomainRangePushEx(domain, &event), one(), nvtxDomainRangePop(domain);
}
static void in_domain(nvtxDomainHandle_t domain, const char* name) {
    auto event = attributes();
    event.messageType = NVTX_MESSAGE_TYPE_ASCII, event.message.ascii = name;
    nvtxDomainRangePushEx(domain, &event), one(), nvtxDomainRangePop(domain);
}
static void started() {
    auto id = nvtxRangeStartA("started");
    one(), nvtxRangeEnd(id);
}
static void started_in(nvtxDomainHandle_t domain) {
    auto event = attributes();
    event.messageType = NVTX_MESSAGE_TYPE_ASCII, event.message.ascii = "started in domain";
    auto id = nvtxDomainRangeStartEx(domain, &event);
    one(), nvtxDomainRangeEnd(domain, id);
}
static void quoted() { in_range("say \"hi\"\n\\", one); }
static void not_utf8() { in_range("not utf-8 \xff", one); }
static void kinds() {
    warm();
    auto domain = nvtxDomainCreateA("domain");
    wide(), registered(domain), in_domain(nullptr, "null domain"), started(), quoted(), not_utf8();
}
// Those of `kinds` whose names are plain ASCII, and more; then one of other names after one that is plain.
static void ascii_names() {
    warm();
    auto domain = nvtxDomainCreateA("domain");
    in_range("plain", one), registered(domain), in_domain(nullptr, "null domain"), in_domain(domain, "in domain");
    started(), started_in(domain);
}
static void wide_names() { warm(), in_range("plain", one), wide(); }
static void quoted_names() { warm(), in_range("plain", one), quoted(); }
static void utf8_names() { warm(), in_range("plain", one), in_range("utf-8 \xe6\x97\xa5", one); }
static void not_utf8_names() { warm(), in_range("plain", one), not_utf8(); }
static void copies() {
    constexpr size_t BYTES = 64 << 20;
    void *a, *b;
    std::vector<char> host(BYTES);
    CHECK(cudaMalloc(&a, BYTES));
    CHECK(cudaMalloc(&b, BYTES));
    in_range("bench_region", [&] {
        CHECK(cudaMemcpy(a, host.data(), BYTES, cudaMemcpyHostToDevice));
        CHECK(cudaMemcpyAsync(b, a, BYTES, cudaMemcpyDeviceToDevice));
        CHECK(cudaMemset(b, 7, BYTES));
        CHECK(cudaMemcpy(host.data(), b, BYTES, cudaMemcpyDeviceToHost));
        settle();
    });
}
static void streams() {
    warm();
    cudaStream_t made[4];
    for (auto& stream : made) CHECK(cudaStreamCreate(&stream));
    in_range("bench_region", [&] {
        for (auto stream : made) launch(1, 5000, stream);
        settle();
    });
}
static void graph() {
    warm();
    cudaStream_t stream;
    cudaGraph_t made;
    cudaGraphExec_t ready;
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    launch(5, 500, stream);
    CHECK(cudaStreamEndCapture(stream, &made));
    CHECK(cudaGraphInstantiate(&ready, made, 0));
    in_range("bench_region", [&] {
        for (int i = 0; i < 2; ++i) CHECK(cudaGraphLaunch(ready, stream));
        settle();
    });
}
static void threads() {
    warm();
    in_range("bench_region", [] {
        std::thread([] { launch(4), settle(); }).join();
        launch(1), settle();
    });
}
static void late() {
    warm();
    in_range("bench_region", [] { launch(5, 10000); });
    settle();
}
static void ways() {  // to launch
    warm();
    in_range("bench_region", [] {
        long long us = 1000;
        void* arguments[] = {&us};
        CHECK(cudaLaunchKernel((const void*)spin, dim3(1), dim3(1), arguments, 0, nullptr));
        CHECK(cudaLaunchCooperativeKernel((const void*)spin, dim3(1), dim3(1), arguments, 0, nullptr));
        cudaLaunchConfig_t config{};
        config.gridDim = config.blockDim = dim3(1);
        CHECK(cudaLaunchKernelEx(&config, spin, us));
        cudaFunction_t function;
        CHECK(cudaGetFuncBySymbol(&function, (const void*)spin));
        auto driver_launch = (decltype(&cuLaunchKernel))dlsym(dlopen("libcuda.so.1", RTLD_NOW), "cuLaunchKernel");
        if (driver_launch((CUfunction)function, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr)) std::exit(3);
        quoted<long long><<<1, 1>>>(us);
        settle();
    });
}
static void bare() { launch(5), settle(); }
static std::string self;
static void child_by_shell() {
    in_range("bench_region", [] {
        if (std::system((self + " bare").c_str()) != 0) std::exit(4);
    });
}
static void child_of_cuda_parent() {
    warm();
    child_by_shell();
    in_range("own", [] { launch(2), settle(); });
}
static void child_by_fork() {  // before CUDA starts in either
    nvtxRangePushA("bench_region");
    if (fork() == 0) {
        in_range("in child", [] { bare(); });
        std::exit(0);
    }
    int status = 0;
    wait(&status);
    if (status != 0) std::exit(5);
    launch(1), settle();
    nvtxRangePop();
}
static void abrupt() { plain(), fflush(stdout), _exit(0); }
static void abrupt_later() { plain(), usleep(400000), _exit(0); }
static void killed_later() { plain(), usleep(400000), raise(SIGKILL); }
static void reset() {
    warm();
    in_range("bench_region", [] { launch(3), settle(); });
    CHECK(cudaDeviceReset());
    in_range("bench_region", [] { launch(4), settle(); });
}
static void unsettled() { warm(), in_range("bench_region", [] { launch(3, 20000); }); }
static void left_open() { warm(), nvtxRangePushA("bench_region"), launch(2), settle(); }
static void many() {
    constexpr int TIMES = 100000;
    warm(), empty<<<1, 1>>>(), settle();
    const double begun = now_ms();
    in_range("bench_region", [] {
        for (int i = 0; i < TIMES; ++i) empty<<<1, 1>>>();
        settle();
    });
    std::printf("%.6f\n", now_ms() - begun);
}
static void steady() {  // 100 ranges of 1 ms kernels, as benchmarks time them
    warm(), launch(5), settle();
    const double begun = now_ms();
    for (int i = 0; i < 100; ++i) in_range("bench_region", [] { launch(1), settle(); });
    std::printf("%.6f\n", now_ms() - begun);
}
static void nothing() {}

int main(int count, char** words) {
    self = words[0];
    const std::map<std::string, std::function<void()>> all = {
        {"plain", plain}, {"nested", nested}, {"kinds", kinds},
        {"ascii_names", ascii_names}, {"wide_names", wide_names}, {"quoted_names", quoted_names},
        {"utf8_names", utf8_names}, {"not_utf8_names", not_utf8_names}, {"copies", copies}, {"streams", streams},
        {"graph", graph}, {"threads", threads}, {"late", late}, {"ways", ways}, {"bare", bare},
        {"child_by_shell", child_by_shell}, {"child_of_cuda_parent", child_of_cuda_parent},
        {"child_by_fork", child_by_fork}, {"abrupt", abrupt}, {"abrupt_later", abrupt_later},
        {"killed_later", killed_later}, {"reset", reset}, {"unsettled", unsettled}, {"left_open", left_open},
        {"many", many}, {"steady", steady}, {"nothing", nothing},
    };
    all.at(count > 1 ? words[1] : "nothing")();
    return 0;
}
