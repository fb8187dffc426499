// What the showcase's C++ harnesses share: fresh inputs, guarded buffers, checks on the device, the timed range.
//
// A harness shares its process with the solution. So expected values come into being only after a call, checks count
// what is right (a cleared counter passes nothing), and a failure leaves by _exit, which no exit handler can turn into
// success.
#pragma once

#include <cuda_runtime.h>
#include <nvtx3/nvToolsExt.h>
#include <sys/random.h>
#include <unistd.h>

#include <cmath>
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>

#define CUDA_CHECK(call) ::podium::check((call), #call, __FILE__, __LINE__)

namespace podium {

// ---- Failing -------------------------------------------------------------------------------------------------------

// The seed of the inputs now in use, printed with every failure; 0 before the first.
inline std::uint64_t& current_seed() {
    static std::uint64_t seed = 0;
    return seed;
}

[[noreturn]] inline void fail(const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    std::fprintf(stderr, "FAILED: ");
    std::vfprintf(stderr, format, arguments);
    std::fprintf(stderr, " (seed %llu)\n", static_cast<unsigned long long>(current_seed()));
    va_end(arguments);
    std::fflush(nullptr);
    _exit(1);
}

inline void check(cudaError_t error, const char* call, const char* file, int line) {
    if (error != cudaSuccess) fail("%s:%d: %s: %s", file, line, call, cudaGetErrorString(error));
}

// Waits for all work and fails on any error that a launch or a kernel left behind.
inline void finish(const char* what) {
    const cudaError_t launch = cudaGetLastError();
    const cudaError_t run = cudaDeviceSynchronize();
    if (launch != cudaSuccess) fail("%s: %s", what, cudaGetErrorString(launch));
    if (run != cudaSuccess) fail("%s: %s", what, cudaGetErrorString(run));
}

// ---- Random values -------------------------------------------------------------------------------------------------

// Drawn from the operating system, so that no solution can know an input before it runs.
inline std::uint64_t fresh_seed() {
    std::uint64_t seed = 0;
    if (getrandom(&seed, sizeof seed, 0) != static_cast<ssize_t>(sizeof seed)) fail("the system gave no entropy");
    current_seed() = seed;
    return seed;
}

// The finaliser of splitmix64: spreads every bit of its input over all bits of its result.
__host__ __device__ inline std::uint64_t mix(std::uint64_t value) {
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
    value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
    return value ^ (value >> 31);
}

// The `index`-th number of the stream `seed`; the same on host and device.
__host__ __device__ inline std::uint64_t random_bits(std::uint64_t seed, std::uint64_t index) {
    return mix(seed + (index + 1) * 0x9e3779b97f4a7c15u);
}

// In [low, high); 24 random bits.
__host__ __device__ inline float random_uniform(std::uint64_t seed, std::uint64_t index, float low, float high) {
    return low + (high - low) * (static_cast<float>(random_bits(seed, index) >> 40) * 0x1p-24f);
}

// One number after the other, on the host.
class Random {
  public:
    explicit Random(std::uint64_t seed) : seed_(seed) {}

    std::uint64_t next() { return random_bits(seed_, index_++); }

    // Uniform enough for test data; `bound` > 0.
    std::uint64_t below(std::uint64_t bound) { return next() % bound; }

    int between(int low, int high) { return low + static_cast<int>(below(static_cast<std::uint64_t>(high - low + 1))); }

    float uniform(float low, float high) { return random_uniform(seed_, index_++, low, high); }

    std::vector<float> floats(std::size_t size, float low, float high) {
        std::vector<float> values(size);
        for (float& value : values) value = uniform(low, high);
        return values;
    }

  private:
    std::uint64_t seed_;
    std::uint64_t index_ = 0;
};

// ---- Device memory -------------------------------------------------------------------------------------------------

// `size` elements on the device between two guards. `skew` elements shift the start, which otherwise has cudaMalloc's
// alignment.
template <class T>
class Buffer {
  public:
    explicit Buffer(std::size_t size, std::size_t skew = 0) : size_(size), skew_bytes_(skew * sizeof(T)) {
        CUDA_CHECK(cudaMalloc(reinterpret_cast<void**>(&base_), total_bytes()));
        CUDA_CHECK(cudaMemset(base_, guard_value, total_bytes()));
        poison();
    }
    explicit Buffer(const std::vector<T>& values, std::size_t skew = 0) : Buffer(values.size(), skew) { upload(values); }
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;
    ~Buffer() { cudaFree(base_); }

    T* data() const { return reinterpret_cast<T*>(base_ + lead_bytes()); }
    std::size_t size() const { return size_; }
    std::size_t bytes() const { return size_ * sizeof(T); }

    // All bits one: NaN as a float, -1 as an integer.
    void poison() { CUDA_CHECK(cudaMemset(data(), 0xff, bytes())); }

    void upload(const std::vector<T>& values) {
        if (values.size() != size_) fail("the harness uploads %zu elements to %zu", values.size(), size_);
        CUDA_CHECK(cudaMemcpy(data(), values.data(), bytes(), cudaMemcpyHostToDevice));
    }

    std::vector<T> download() const {
        std::vector<T> values(size_);
        CUDA_CHECK(cudaMemcpy(values.data(), data(), bytes(), cudaMemcpyDeviceToHost));
        return values;
    }

    void copy_from(const Buffer& other) {
        if (other.size_ != size_) fail("the harness copies %zu elements to %zu", other.size_, size_);
        CUDA_CHECK(cudaMemcpy(data(), other.data(), bytes(), cudaMemcpyDeviceToDevice));
    }

    // Fails if anything wrote before the first or behind the last element.
    void expect_guards(const char* name) const {
        expect_guard(name, "before the start", 0, lead_bytes());
        expect_guard(name, "behind the end", lead_bytes() + bytes(), guard_bytes);
    }

    // Fails if the contents are no longer `values`, bit for bit.
    void expect_unchanged(const std::vector<T>& values, const char* name) const {
        const std::vector<T> now = download();
        if (bytes() != 0 && std::memcmp(now.data(), values.data(), bytes()) != 0) fail("%s was changed", name);
        expect_guards(name);
    }

  private:
    static constexpr std::size_t guard_bytes = 4096;
    static constexpr unsigned char guard_value = 0xa5;

    std::size_t lead_bytes() const { return guard_bytes + skew_bytes_; }
    std::size_t total_bytes() const { return lead_bytes() + bytes() + guard_bytes; }

    void expect_guard(const char* name, const char* where, std::size_t from, std::size_t size) const {
        std::vector<unsigned char> guard(size);
        CUDA_CHECK(cudaMemcpy(guard.data(), base_ + from, size, cudaMemcpyDeviceToHost));
        for (const unsigned char byte : guard) {
            if (byte != guard_value) fail("something wrote %s of %s", where, name);
        }
    }

    unsigned char* base_ = nullptr;
    std::size_t size_;
    std::size_t skew_bytes_;
};

// ---- Kernels of the harness ----------------------------------------------------------------------------------------

constexpr int block_threads = 256;

inline unsigned int blocks_for(std::size_t size) {
    const std::size_t blocks = (size + block_threads - 1) / block_threads;
    return static_cast<unsigned int>(blocks < 1 ? 1 : blocks > 16384 ? 16384 : blocks);
}

template <class T, class Make>
__global__ void fill_kernel(T* values, std::size_t size, Make make) {
    const std::size_t step = std::size_t{gridDim.x} * blockDim.x;
    for (std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x; i < size; i += step) values[i] = make(i);
}

// values[i] = make(i), made on the device; `make` is a copyable object with `__device__ T operator()(std::size_t) const`.
template <class T, class Make>
void fill(T* values, std::size_t size, Make make) {
    fill_kernel<<<blocks_for(size), block_threads>>>(values, size, make);
    CUDA_CHECK(cudaGetLastError());
}

struct Uniform {
    std::uint64_t seed;
    float low;
    float high;
    __device__ float operator()(std::size_t i) const { return random_uniform(seed, i, low, high); }
};

struct Below {
    std::uint64_t seed;
    std::uint32_t bound;
    __device__ std::uint32_t operator()(std::size_t i) const {
        return static_cast<std::uint32_t>((random_bits(seed, i) >> 32) % bound);
    }
};

inline void fill_uniform(Buffer<float>& buffer, std::uint64_t seed, float low, float high) {
    fill(buffer.data(), buffer.size(), Uniform{seed, low, high});
}

// Integers in [0, bound), bound > 0.
inline void fill_below(Buffer<std::uint32_t>& buffer, std::uint64_t seed, std::uint32_t bound) {
    fill(buffer.data(), buffer.size(), Below{seed, bound});
}

// |got - expected| <= absolute + relative * |expected|; equal infinities are close, NaN is close to nothing.
__host__ __device__ inline bool is_close(double got, double expected, double relative, double absolute) {
    if (got == expected) return true;
    const double difference = got > expected ? got - expected : expected - got;
    const double size = expected < 0 ? -expected : expected;
    return difference <= absolute + relative * size && difference < HUGE_VAL;
}

template <class T>
struct CloseTo {
    const T* got;
    const T* expected;
    double relative;
    double absolute;
    __device__ bool operator()(std::size_t i) const { return is_close(got[i], expected[i], relative, absolute); }
};

template <class T>
struct EqualTo {
    const T* got;
    const T* expected;
    __device__ bool operator()(std::size_t i) const { return got[i] == expected[i]; }
};

struct Tally {
    unsigned long long right;
    unsigned long long first_wrong;
};

template <class Right>
__global__ void tally_kernel(Tally* tally, std::size_t size, Right right) {
    const std::size_t step = std::size_t{gridDim.x} * blockDim.x;
    unsigned long long mine = 0;
    for (std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x; i < size; i += step) {
        if (right(i)) {
            ++mine;
        } else {
            atomicMin(&tally->first_wrong, static_cast<unsigned long long>(i));
        }
    }
    if (mine != 0) atomicAdd(&tally->right, mine);
}

// Fails unless right(i) holds for every i in [0, size); `right` is a copyable object with a `__device__ bool
// operator()(std::size_t) const`.
template <class Right>
void expect_all(std::size_t size, Right right, const char* what) {
    Tally* device = nullptr;
    Tally tally{0, ~0ull};
    CUDA_CHECK(cudaMalloc(reinterpret_cast<void**>(&device), sizeof tally));
    CUDA_CHECK(cudaMemcpy(device, &tally, sizeof tally, cudaMemcpyHostToDevice));
    tally_kernel<<<blocks_for(size), block_threads>>>(device, size, right);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaMemcpy(&tally, device, sizeof tally, cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaFree(device));
    if (tally.right != size) {
        fail("%s: element %llu is wrong, %llu of %zu are right", what, tally.first_wrong, tally.right, size);
    }
}

// On the device: every element of `got` is close to that of `expected`.
inline void expect_close(const Buffer<float>& got, const Buffer<float>& expected, double relative, double absolute,
                         const char* what) {
    expect_all(got.size(), CloseTo<float>{got.data(), expected.data(), relative, absolute}, what);
}

// On the device: every element of `got` equals that of `expected`.
template <class T>
void expect_equal(const Buffer<T>& got, const Buffer<T>& expected, const char* what) {
    expect_all(got.size(), EqualTo<T>{got.data(), expected.data()}, what);
}

// On the host: the same against a reference in double precision.
inline void expect_close(const std::vector<float>& got, const std::vector<double>& expected, double relative,
                         double absolute, const char* what) {
    if (got.size() != expected.size()) fail("%s: %zu elements, not %zu", what, got.size(), expected.size());
    for (std::size_t i = 0; i < got.size(); ++i) {
        if (!is_close(got[i], expected[i], relative, absolute)) {
            fail("%s: element %zu is %.9g, not %.9g", what, i, got[i], expected[i]);
        }
    }
}

template <class T>
__global__ void checksum_kernel(unsigned long long* sum, const T* values, std::size_t size) {
    const std::size_t step = std::size_t{gridDim.x} * blockDim.x;
    unsigned long long mine = 0;
    for (std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x; i < size; i += step) {
        std::uint64_t word = 0;
        memcpy(&word, values + i, sizeof(T) < sizeof word ? sizeof(T) : sizeof word);
        mine += mix(word + i * 0x9e3779b97f4a7c15u);
    }
    atomicAdd(sum, mine);
}

// A sum over all elements (of at most eight bytes) and their places: equal before and after a call that changes nothing.
template <class T>
std::uint64_t checksum(const Buffer<T>& buffer) {
    static_assert(sizeof(T) <= sizeof(std::uint64_t), "elements of at most eight bytes");
    unsigned long long* device = nullptr;
    unsigned long long sum = 0;
    CUDA_CHECK(cudaMalloc(reinterpret_cast<void**>(&device), sizeof sum));
    CUDA_CHECK(cudaMemset(device, 0, sizeof sum));
    checksum_kernel<<<blocks_for(buffer.size()), block_threads>>>(device, buffer.data(), buffer.size());
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaMemcpy(&sum, device, sizeof sum, cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaFree(device));
    return sum;
}

// ---- Timing --------------------------------------------------------------------------------------------------------

// Empties the L2 cache: drops lines kept by an access policy, then writes 2.5 times the cache's size.
class CacheFlush {
  public:
    CacheFlush() {
        int device = 0;
        int l2_bytes = 0;
        CUDA_CHECK(cudaGetDevice(&device));
        CUDA_CHECK(cudaDeviceGetAttribute(&l2_bytes, cudaDevAttrL2CacheSize, device));
        bytes_ = static_cast<std::size_t>(l2_bytes) / 2 * 5;
        CUDA_CHECK(cudaMalloc(&memory_, bytes_));
    }
    CacheFlush(const CacheFlush&) = delete;
    CacheFlush& operator=(const CacheFlush&) = delete;
    ~CacheFlush() { cudaFree(memory_); }

    void operator()() {
        if (cudaCtxResetPersistingL2Cache() != cudaSuccess) cudaGetLastError();  // Not every device can persist lines.
        CUDA_CHECK(cudaMemset(memory_, ++value_ & 0xff, bytes_));
    }

  private:
    void* memory_ = nullptr;
    std::size_t bytes_ = 0;
    int value_ = 0;
};

constexpr int warmup_calls = 3;
constexpr int timed_calls = 20;

// Calls the solution three times untimed and twenty times in the range "bench_region".
// Before each call `prepare(seed)` writes fresh inputs to the same addresses, poisons the outputs and, where the problem
// is bound by memory, flushes the L2 cache. After it, outside of the range, `keep()` copies the outputs away at once and
// `verify()` fails unless the copies are right.
template <class Prepare, class Call, class Keep, class Verify>
void benchmark(Prepare prepare, Call call, Keep keep, Verify verify) {
    for (int i = 0; i < warmup_calls + timed_calls; ++i) {
        prepare(fresh_seed());
        finish("the harness's preparation");
        const bool timed = i >= warmup_calls;
        if (timed) nvtxRangePushA("bench_region");
        call();
        const cudaError_t error = cudaDeviceSynchronize();
        if (timed) nvtxRangePop();
        keep();
        CUDA_CHECK(error);
        finish("the call");
        verify();
    }
}

// `./test.out` tests, `./test.out --perf` benchmarks.
inline bool wants_benchmark(int argc, char** argv) { return argc > 1 && std::strcmp(argv[1], "--perf") == 0; }

}  // namespace podium
