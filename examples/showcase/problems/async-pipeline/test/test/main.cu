// Tests async_pipeline; with --perf calls it twenty times in the range "bench_region", checking every value of every call.
#include "podium_bench.cuh"

// Repeated from the context on purpose: the harness includes nothing that a solution may replace.
void async_pipeline(const float* in, float* out, std::size_t size);

namespace {

constexpr double tolerance = 1e-5;  // Relative and absolute.

__host__ __device__ double reference(double v) {
    constexpr double factors[] = {0.0625, -0.25, 0.375, -0.5, 0.4375, -0.75, 0.625, 1.0, 0.125};
    double sum = 0.0;
    for (const double factor : factors) sum = sum * v + factor;
    return sum;
}

// Page-locked floats between two guards.
class Pinned {
  public:
    explicit Pinned(std::size_t size) : size_(size) {
        CUDA_CHECK(cudaHostAlloc(reinterpret_cast<void**>(&base_), (size + 2 * guard) * sizeof(float), cudaHostAllocDefault));
        std::memset(base_, guard_byte, (size + 2 * guard) * sizeof(float));
    }
    Pinned(const Pinned&) = delete;
    Pinned& operator=(const Pinned&) = delete;
    ~Pinned() { cudaFreeHost(base_); }

    float* data() const { return base_ + guard; }
    std::size_t bytes() const { return size_ * sizeof(float); }

    void expect_guards(const char* name) const {
        for (std::size_t i = 0; i < guard; ++i) {
            for (const float* word : {base_ + i, base_ + guard + size_ + i}) {
                unsigned char bytes[sizeof(float)];
                std::memcpy(bytes, word, sizeof bytes);
                for (const unsigned char byte : bytes) {
                    if (byte != guard_byte) podium::fail("something wrote before or behind %s", name);
                }
            }
        }
    }

  private:
    static constexpr std::size_t guard = 1024;
    static constexpr unsigned char guard_byte = 0xa5;
    float* base_ = nullptr;
    std::size_t size_;
};

void expect_right(const std::vector<float>& values) {
    Pinned in(values.size()), out(values.size());
    if (!values.empty()) std::memcpy(in.data(), values.data(), in.bytes());
    std::memset(out.data(), 0xff, out.bytes());
    async_pipeline(in.data(), out.data(), values.size());
    podium::finish("async_pipeline");
    std::vector<double> expected(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) expected[i] = reference(values[i]);
    podium::expect_close(std::vector<float>(out.data(), out.data() + values.size()), expected, tolerance, tolerance, "out");
    if (!values.empty() && std::memcmp(in.data(), values.data(), in.bytes()) != 0) podium::fail("in was changed");
    in.expect_guards("in");
    out.expect_guards("out");
}

// Sizes rise and fall, so that what is kept from one call shows in the next.
void tests() {
    podium::Random random(podium::fresh_seed());
    const std::size_t sizes[] = {1,     0,       2,     3,           1000,        31,      255,     256, 257, 65536,
                                 65537, 1000003, 12345, 1u << 20, (1u << 22) + 1, (1u << 22) + 1, 1u << 22, 77,  0,   1};
    for (const std::size_t size : sizes) expect_right(random.floats(size, -1, 1));
    for (int i = 0; i < 10; ++i) expect_right(random.floats(random.below(1u << 20), -1, 1));
}

constexpr std::size_t timed_size = std::size_t{1} << 24;

struct RightInput {
    podium::Uniform drawn;
    const float* got;
    __device__ bool operator()(std::size_t i) const { return got[i] == drawn(i); }
};

struct RightOutput {
    podium::Uniform drawn;
    const float* got;
    __device__ bool operator()(std::size_t i) const {
        return podium::is_close(got[i], reference(drawn(i)), tolerance, tolerance);
    }
};

// Host memory is filled and looked at through the device, which is quicker than the host.
void benchmark() {
    Pinned in(timed_size), out(timed_size);
    podium::Buffer<float> values(timed_size), kept(timed_size);
    podium::Uniform drawn{0, -1, 1};
    podium::benchmark(
        [&](std::uint64_t seed) {
            drawn.seed = seed;
            podium::fill(values.data(), values.size(), drawn);
            CUDA_CHECK(cudaMemcpy(in.data(), values.data(), in.bytes(), cudaMemcpyDeviceToHost));
            values.poison();
            CUDA_CHECK(cudaMemcpy(out.data(), values.data(), out.bytes(), cudaMemcpyDeviceToHost));
            kept.poison();
        },
        [&] { async_pipeline(in.data(), out.data(), timed_size); },
        [&] { CUDA_CHECK(cudaMemcpy(kept.data(), out.data(), out.bytes(), cudaMemcpyHostToDevice)); },
        [&] {
            podium::expect_all(timed_size, RightOutput{drawn, kept.data()}, "out");
            CUDA_CHECK(cudaMemcpy(values.data(), in.data(), in.bytes(), cudaMemcpyHostToDevice));
            podium::expect_all(timed_size, RightInput{drawn, values.data()}, "in");
        });
    in.expect_guards("in");
    out.expect_guards("out");
}

}  // namespace

int main(int argc, char** argv) {
    podium::wants_benchmark(argc, argv) ? benchmark() : tests();
    return 0;
}
