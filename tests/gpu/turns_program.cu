// Uses the device in the way that its arguments name, for the tests of turns at the gate. Silent where all is well.
// Ends with 2 where CUDA refuses something, 3 where a result is wrong, 4 where a kernel waited in vain, 5 for a child.
#include <cuda.h>
#include <cuda_runtime.h>
#include <dlfcn.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <string>
#include <thread>
#include <vector>

using Words = std::vector<std::string>;
enum Status { REFUSED = 2, WRONG = 3, IN_VAIN = 4, CHILD_FAILED = 5 };
constexpr int COUNT = 1 << 14, BLOCK = 256, BLOCKS = COUNT / BLOCK;
constexpr size_t BYTES = COUNT * sizeof(unsigned);
constexpr long long PATIENCE_NS = 10'000'000'000;

// At once: to end in order could wait for what caused the failure.
[[noreturn]] static void fail(Status status, int line, const std::string& why) {
    std::fprintf(stderr, "line %d: %s\n", line, why.c_str());
    ::_exit(status);
}
static void check(cudaError_t error, int line) {
    if (error != cudaSuccess) fail(REFUSED, line, cudaGetErrorString(error));
}
static void check(CUresult error, int line) {
    if (error != CUDA_SUCCESS) fail(REFUSED, line, "the driver's error " + std::to_string(error));
}
#define CHECK(call) check(call, __LINE__)

__device__ long long clock_ns() {
    long long now;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
    return now;
}
__device__ void pass(long long us) {
    for (const long long begun = clock_ns(); clock_ns() - begun < us * 1000;) continue;
}
__device__ int index() { return blockIdx.x * blockDim.x + threadIdx.x; }

// Reads, takes its time and writes: whoever writes meanwhile is found out.
extern "C" __global__ void add(volatile unsigned* data, unsigned value, long long us) {
    const unsigned before = data[index()];
    pass(us);
    data[index()] = before + value;
}
__global__ void fill(volatile unsigned* data, unsigned value, long long us) {
    data[index()] = value;
    pass(us);
}
__global__ void take(unsigned* data, const unsigned* other) { atomicAdd(data + index(), other[index()]); }
__global__ void wait_for(const volatile unsigned* flag, volatile unsigned* in_vain) {
    for (const long long begun = clock_ns(); !*flag;) {
        if (clock_ns() - begun < PATIENCE_NS) continue;
        *in_vain = 1;
        return;
    }
}
__global__ void set_flag(volatile unsigned* flag) { *flag = 1; }
__device__ void compute(float* at, int steps) {
    float x = at[threadIdx.x];
    for (int i = 0; i < steps; ++i) x = fmaf(x, 0.999f, 0.001f);
    at[threadIdx.x] = x;
}
// The same work always, so that it takes longer where something holds it up.
__global__ void work(float* at, int steps) { compute(at, steps); }
__global__ void warm_up(float* at, int steps) { compute(at, steps); }

static double now_ms() {
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1e3 + now.tv_nsec / 1e6;
}
static void rest_ms(unsigned ms) { ::usleep(ms * 1000); }
static void settle() { CHECK(cudaDeviceSynchronize()); }

// Numbers on the device that begin as zeros.
struct Numbers {
    unsigned* at = nullptr;
    Numbers() {
        CHECK(cudaMalloc(&at, BYTES));
        CHECK(cudaMemset(at, 0, BYTES));
        settle();
    }
};
static void expect(const Numbers& numbers, unsigned value, int line) {
    std::vector<unsigned> found(COUNT);
    settle();
    CHECK(cudaMemcpy(found.data(), numbers.at, BYTES, cudaMemcpyDeviceToHost));
    for (const unsigned one : found)
        if (one != value) fail(WRONG, line, "found " + std::to_string(one) + " for " + std::to_string(value));
}
#define EXPECT(numbers, value) expect(numbers, value, __LINE__)

static void add_to(unsigned* at, unsigned value, long long us, cudaStream_t stream) {
    add<<<BLOCKS, BLOCK, 0, stream>>>(at, value, us);
    CHECK(cudaGetLastError());
}
static cudaStream_t new_stream(unsigned flags = cudaStreamNonBlocking) {
    cudaStream_t made;
    CHECK(cudaStreamCreateWithFlags(&made, flags));
    return made;
}
// Words of the host's that the device sees as well.
static unsigned* shared_words(int count) {
    void* made;
    CHECK(cudaHostAlloc(&made, count * sizeof(unsigned), cudaHostAllocMapped));
    std::fill_n(static_cast<unsigned*>(made), count, 0u);
    return static_cast<unsigned*>(made);
}

static cudaStreamCaptureMode capture_mode(const Words& words) {
    static const std::map<std::string, cudaStreamCaptureMode> modes = {
        {"global", cudaStreamCaptureModeGlobal},
        {"thread-local", cudaStreamCaptureModeThreadLocal},
        {"relaxed", cudaStreamCaptureModeRelaxed},
    };
    return modes.at(words.at(0));
}
// Ends the capture, and launches what was captured so many times.
static void launch_captured(cudaStream_t stream, int times) {
    cudaGraph_t graph;
    cudaGraphExec_t ready;
    CHECK(cudaStreamEndCapture(stream, &graph));
    CHECK(cudaGraphInstantiate(&ready, graph, 0));
    for (int i = 0; i < times; ++i) CHECK(cudaGraphLaunch(ready, stream));
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaGraphExecDestroy(ready));
    CHECK(cudaGraphDestroy(graph));
}
// What was launched before may still run when a capture begins; the turn goes at times while one is under way.
static void capture(const Words& words) {
    const auto mode = capture_mode(words);
    const auto stream = new_stream(cudaStreamDefault);
    const Numbers numbers;
    constexpr int ROUNDS = 40, TIMES = 3;
    for (int round = 0; round < ROUNDS; ++round) {
        unsigned *before, *scratch;
        CHECK(cudaMalloc(&before, BYTES));
        add_to(numbers.at, 1, 300, stream);
        CHECK(cudaStreamBeginCapture(stream, mode));
        add_to(numbers.at, 1, 300, stream);
        rest_ms(round % 4 * 2);
        if (mode == cudaStreamCaptureModeRelaxed) {
            CHECK(cudaMalloc(&scratch, BYTES));
            CHECK(cudaFree(before));
        } else {
            scratch = before;
        }
        CHECK(cudaMemsetAsync(scratch, 0, BYTES, stream));
        add_to(scratch, 2, 0, stream);
        take<<<BLOCKS, BLOCK, 0, stream>>>(numbers.at, scratch);
        add_to(numbers.at, 1, 300, stream);
        launch_captured(stream, TIMES);
        CHECK(cudaFree(scratch));
    }
    EXPECT(numbers, ROUNDS * (1 + TIMES * 4));
}
// Uses the device as one may while another thread captures: it waits for nothing, for which all that runs had to end.
static unsigned use_beside(const Numbers& numbers, bool may_free) {
    const auto stream = new_stream();
    unsigned* scratch;
    constexpr int ROUNDS = 150;
    for (int round = 0; round < ROUNDS; ++round) {
        if (may_free) CHECK(cudaMalloc(&scratch, BYTES));
        add_to(numbers.at, 1, 2000, stream);
        if (may_free) CHECK(cudaMemsetAsync(scratch, 0, BYTES, stream));
        add_to(numbers.at, 1, 2000, stream);
        if (may_free) CHECK(cudaFree(scratch));
        rest_ms(3);
    }
    return 2 * ROUNDS;
}
static void beside(const Words& words) {
    const auto mode = capture_mode(words);
    const auto stream = new_stream(cudaStreamDefault);
    const Numbers captured, used, filled;
    add_to(captured.at, 0, 0, stream), settle();
    unsigned used_times = 0, captures = 0;
    std::atomic<bool> done{false};
    std::thread user([&] {
        used_times = use_beside(used, mode != cudaStreamCaptureModeGlobal);
        done = true;
    });
    std::thread filler([&] {
        const auto filling = new_stream();
        for (; !done; rest_ms(2)) CHECK(cudaMemsetAsync(filled.at, 0, BYTES, filling));
    });
    for (; !done; ++captures) {
        CHECK(cudaStreamBeginCapture(stream, mode));
        for (int i = 0; i < 2; ++i) add_to(captured.at, 1, 200, stream);
        rest_ms(captures % 2);
        launch_captured(stream, 1);
        rest_ms(captures % 3);
    }
    user.join(), filler.join();
    EXPECT(captured, 2 * captures);
    EXPECT(used, used_times);
    EXPECT(filled, 0);
}

// On and on without waiting, never far ahead of the device.
static void keep_busy(const Numbers& numbers, double ms, cudaStream_t stream) {
    const double begun = now_ms();
    for (double next = begun; next < begun + ms; next += 0.025) {
        while (now_ms() < next) continue;
        add_to(numbers.at, 1, 20, stream);
    }
}
static void expect_no_vain(const volatile unsigned* in_vain, int line) {
    if (*in_vain) fail(IN_VAIN, line, "a kernel waited in vain");
}
// A kernel that ends with one that is launched later, on another stream.
static void pair(const Words&) {
    constexpr int ROUNDS = 20;
    const auto waiting = new_stream(), setting = new_stream(), busy = new_stream();
    const Numbers flags, numbers;
    unsigned* in_vain = shared_words(1);
    // Code is loaded first: that may wait for what runs.
    set_flag<<<1, 1>>>(flags.at + ROUNDS), settle();
    wait_for<<<1, 1>>>(flags.at + ROUNDS, in_vain), settle();
    add_to(numbers.at, 0, 0, busy), settle();
    for (int round = 0; round < ROUNDS; ++round) {
        wait_for<<<1, 1, 0, waiting>>>(flags.at + round, in_vain);
        keep_busy(numbers, 30, busy);
        rest_ms(round % 3 * 4);
        set_flag<<<1, 1, 0, setting>>>(flags.at + round);
        CHECK(cudaGetLastError());
        CHECK(cudaStreamSynchronize(waiting));
        expect_no_vain(in_vain, __LINE__);
    }
    settle();
}
// A kernel that the host ends, but only once it has launched another behind it.
static void behind(const Words&) {
    constexpr int ROUNDS = 4;
    const auto stream = new_stream();
    const Numbers numbers;
    unsigned* in_vain = shared_words(1);
    volatile unsigned* flags = shared_words(ROUNDS + 1);
    flags[ROUNDS] = 1;
    wait_for<<<1, 1>>>(flags + ROUNDS, in_vain), add_to(numbers.at, 0, 0, stream), settle();
    for (int round = 0; round < ROUNDS; ++round) {
        wait_for<<<1, 1, 0, stream>>>(flags + round, in_vain);
        CHECK(cudaGetLastError());
        rest_ms(50);
        add_to(numbers.at, 1, 0, stream);
        flags[round] = 1;
        CHECK(cudaStreamSynchronize(stream));
        expect_no_vain(in_vain, __LINE__);
    }
    EXPECT(numbers, ROUNDS);
}

// Two streams get the same memory by turns, so a free that does not wait for its kernels makes a wrong sum.
static void frees(const Words&) {
    const cudaStream_t streams[] = {new_stream(), new_stream()};
    const Numbers total;
    unsigned expected = 0;
    for (unsigned round = 1; round <= 400; ++round) {
        unsigned* data;
        CHECK(cudaMalloc(&data, 4 << 20));
        fill<<<BLOCKS, BLOCK, 0, streams[round % 2]>>>(data, round, 500);
        take<<<BLOCKS, BLOCK, 0, streams[round % 2]>>>(total.at, data);
        CHECK(cudaFree(data));
        expected += round;
    }
    EXPECT(total, expected);
}

template <class Function>
static Function driver_function(const char* name) {
    static void* driver = dlopen("libcuda.so.1", RTLD_NOW);
    void* found = driver ? dlsym(driver, name) : nullptr;
    if (!found) fail(REFUSED, __LINE__, std::string("the driver has no ") + name);
    return reinterpret_cast<Function>(found);
}
#define DRIVER(name) driver_function<decltype(&name)>(#name)

// In both ways.
static void launch(CUfunction function, unsigned* at, CUstream stream) {
    unsigned value = 1;
    long long us = 200;
    void* arguments[] = {&at, &value, &us};
    CHECK(DRIVER(cuLaunchKernel)(function, BLOCKS, 1, 1, BLOCK, 1, 1, 0, stream, arguments, nullptr));
    rest_ms(3);
    CUlaunchConfig config{};
    config.gridDimX = BLOCKS, config.blockDimX = BLOCK, config.hStream = stream;
    config.gridDimY = config.gridDimZ = config.blockDimY = config.blockDimZ = 1;
    CHECK(DRIVER(cuLaunchKernelEx)(&config, function, arguments, nullptr));
}
// A kernel of a library and the same as a function of a module, from the file named; both are given back while another
// kernel runs.
static void library(const Words& words) {
    std::ifstream file(words.at(0), std::ios::binary);
    const std::vector<char> code{std::istreambuf_iterator<char>(file), {}};
    const auto stream = new_stream(), other = new_stream();
    const Numbers numbers, others;
    constexpr int ROUNDS = 30;
    for (int round = 0; round < ROUNDS; ++round) {
        CUlibrary loaded;
        CUkernel kernel;
        CUmodule module;
        CUfunction function;
        CHECK(DRIVER(cuLibraryLoadData)(&loaded, code.data(), nullptr, nullptr, 0, nullptr, nullptr, 0));
        CHECK(DRIVER(cuLibraryGetKernel)(&kernel, loaded, "add"));
        CHECK(DRIVER(cuModuleLoad)(&module, words.at(0).c_str()));
        CHECK(DRIVER(cuModuleGetFunction)(&function, module, "add"));
        launch(reinterpret_cast<CUfunction>(kernel), numbers.at, stream);
        launch(function, numbers.at, stream);
        CHECK(cudaStreamSynchronize(stream));
        add_to(others.at, 1, 1000, other);
        CHECK(DRIVER(cuModuleUnload)(module));
        CHECK(DRIVER(cuLibraryUnload)(loaded));
    }
    EXPECT(numbers, 4 * ROUNDS);
    EXPECT(others, ROUNDS);
}

static void in_thread(unsigned value) {
    constexpr int ROUNDS = 2000;
    const cudaStream_t streams[] = {new_stream(), cudaStreamPerThread, nullptr};
    const Numbers numbers[std::size(streams)];
    for (int round = 0; round < ROUNDS; ++round) {
        for (size_t i = 0; i < std::size(streams); ++i) add_to(numbers[i].at, value, 20, streams[i]);
        if (round % 16 == 0) CHECK(cudaStreamSynchronize(streams[round / 16 % std::size(streams)]));
    }
    for (const Numbers& one : numbers) EXPECT(one, value * ROUNDS);
}
static void threads(const Words&) {
    std::vector<std::thread> all;
    for (unsigned value = 1; value <= 4; ++value) all.emplace_back(in_thread, value);
    for (auto& one : all) one.join();
}

// LAUNCHES and how many of them are waited for together. Before, for as long as clocks need to rise, by another name.
static void lengthy(const Words& words) {
    constexpr int STEPS = 50'000;  // some 0.1 ms at 2 GHz
    const int launches = std::stoi(words.at(0)), at_once = std::stoi(words.at(1));
    const Numbers numbers;
    auto* const at = reinterpret_cast<float*>(numbers.at);
    for (const double begun = now_ms(); now_ms() < begun + 500; settle())
        for (int i = 0; i < 10; ++i) warm_up<<<1, 32>>>(at, STEPS);
    for (int i = 1; i <= launches; ++i) {
        work<<<1, 32>>>(at, STEPS);
        if (i % at_once == 0) settle();
    }
    CHECK(cudaGetLastError());
    settle();
}

static void plain(const Words&) {
    constexpr int ROUNDS = 600;
    const Numbers numbers;
    for (int round = 0; round < ROUNDS; ++round) {
        add_to(numbers.at, 1, 300, nullptr);
        if (round % 8 == 0) settle();
    }
    EXPECT(numbers, ROUNDS);
}
// Before CUDA starts in any: one child goes on as it is, one as a new program.
static void forks(const Words& words) {
    const pid_t forked = fork();
    if (forked == 0) plain(words), std::exit(0);
    const pid_t replaced = fork();
    if (replaced == 0) execl("/proc/self/exe", "turns_program", "plain", nullptr), ::_exit(127);
    plain(words);
    for (const pid_t child : {forked, replaced}) {
        int status = -1;
        if (waitpid(child, &status, 0) != child || status != 0)
            fail(CHILD_FAILED, __LINE__, "a child ended with " + std::to_string(status));
    }
}

int main(int count, char** words) {
    const std::map<std::string, std::function<void(const Words&)>> all = {
        {"capture", capture}, {"beside", beside}, {"pair", pair}, {"behind", behind}, {"frees", frees},
        {"library", library}, {"threads", threads}, {"long", lengthy}, {"plain", plain}, {"forks", forks},
    };
    all.at(count > 1 ? words[1] : "plain")(Words(words + std::min(count, 2), words + count));
    return 0;
}
