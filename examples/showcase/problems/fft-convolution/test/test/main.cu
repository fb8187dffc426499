// Tests and times fft_convolution.
#include <string>

#include "podium_bench.cuh"

// Repeated from the context on purpose: the harness includes nothing that a solution may replace.
void fft_convolution(const float* signals, const float* filter, float* out, int batch, int n);

namespace {

using podium::Buffer;

constexpr double relative = 1e-5;
constexpr double absolute = 1e-4;

// ---- Tests ---------------------------------------------------------------------------------------------------------

std::vector<double> reference(const std::vector<float>& signals, const std::vector<float>& filter, int batch, int n) {
    std::vector<double> out(std::size_t(batch) * n, 0.0);
    // The signal twice in a row, so that no index wraps.
    std::vector<double> twice(2 * std::size_t(n));
    for (int s = 0; s < batch; ++s) {
        for (int i = 0; i < 2 * n; ++i) twice[i] = signals[std::size_t(s) * n + i % n];
        double* row = &out[std::size_t(s) * n];
        for (int j = 0; j < n; ++j) {
            const double tap = filter[j];
            const double* from = &twice[n - j];
            if (tap == 0) continue;
            for (int i = 0; i < n; ++i) row[i] += tap * from[i];
        }
    }
    return out;
}

void test_one(const std::vector<float>& signals, const std::vector<float>& filter, const char* kind) {
    const int n = static_cast<int>(filter.size()), batch = static_cast<int>(signals.size() / filter.size());
    const Buffer<float> signals_device(signals), filter_device(filter), out(signals.size());
    fft_convolution(signals_device.data(), filter_device.data(), out.data(), batch, n);
    podium::finish("fft_convolution");
    const std::string what = std::string(kind) + ", batch " + std::to_string(batch) + ", n " + std::to_string(n);
    podium::expect_close(out.download(), reference(signals, filter, batch, n), relative, absolute, what.c_str());
    out.expect_guards("out");
    signals_device.expect_unchanged(signals, "signals");
    filter_device.expect_unchanged(filter, "filter");
}

std::vector<float> noise(podium::Random& random, int batch, int n) {
    return random.floats(std::size_t(batch) * n, -1.0f, 1.0f);
}

std::vector<float> random_filter(podium::Random& random, int n) {
    const float reach = 1.0f / std::sqrt(static_cast<float>(n));
    return random.floats(n, -reach, reach);
}

std::vector<float> impulse(int n, int place) {
    std::vector<float> filter(n, 0.0f);
    filter[place] = 1.0f;
    return filter;
}

void tests() {
    podium::Random random(podium::fresh_seed());
    const int shapes[][2] = {{1, 2},   {3, 2},    {2, 3},    {5, 4},   {1, 5},    {9, 7},    {4, 16},   {64, 30}, {3, 64},
                             {2, 100}, {7, 127},  {10, 128}, {3, 255}, {6, 256},  {2, 500},  {2, 1009}, {3, 1024}, {1, 2048},
                             {2, 4095}, {3, 4096}, {3, 16384}};
    for (const auto& [batch, n] : shapes) test_one(noise(random, batch, n), random_filter(random, n), "noise");
    for (const int n : {2, 17, 96, 1024, 16384}) {
        test_one(noise(random, 3, n), impulse(n, 0), "the identity");
        test_one(noise(random, 2, n), impulse(n, n - 1), "a rotation by one to the left");
        test_one(noise(random, 1, n), impulse(n, static_cast<int>(random.below(n))), "a rotation");
        test_one(std::vector<float>(n, 0.0f), random_filter(random, n), "silence");
        test_one(noise(random, 2, n), std::vector<float>(n, 1.0f / n), "the mean");
    }
    // The highest frequency, which only an even length has.
    std::vector<float> alternating(512);
    for (int i = 0; i < 512; ++i) alternating[i] = i % 2 ? -1.0f : 1.0f;
    std::vector<float> difference = impulse(512, 0);
    difference[1] = -0.5f;
    test_one(alternating, difference, "the highest frequency");
    for (int round = 0; round < 10; ++round) {
        const int n = random.between(2, 700);
        test_one(noise(random, random.between(1, 9), n), random_filter(random, n), "noise");
    }
}

// ---- Benchmark -----------------------------------------------------------------------------------------------------

constexpr int batch = 1024, length = 16384, chunks = 16;
constexpr double projected = 5e-3;

struct Signs {
    std::uint64_t seed;
    __device__ float operator()(std::size_t i) const { return podium::random_bits(seed, i) >> 63 ? 1.0f : -1.0f; }
};

// weights[t] += the sum over one chunk of i of signs[i] * filter[(i - t) mod n].
__global__ void weigh_kernel(double* weights, const float* signs, const float* filter) {
    const int t = blockIdx.x * blockDim.x + threadIdx.x;
    const int start = blockIdx.y * (length / chunks);
    double sum = 0;
    for (int i = start; i < start + length / chunks; ++i) {
        sum += static_cast<double>(signs[i]) * filter[(i - t) & (length - 1)];
    }
    atomicAdd(&weights[t], sum);
}

// One block for each signal: how far the sum of signs * out is from the sum of weights * signal.
__global__ void distance_kernel(double* distances, const float* out, const float* signs, const float* signals,
                                const double* weights) {
    __shared__ double sums[podium::block_threads];
    const std::size_t start = std::size_t{blockIdx.x} * length;
    double sum = 0;
    for (int i = threadIdx.x; i < length; i += blockDim.x) {
        sum += static_cast<double>(signs[i]) * out[start + i] - weights[i] * signals[start + i];
    }
    sums[threadIdx.x] = sum;
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        __syncthreads();
        if (static_cast<int>(threadIdx.x) < half) sums[threadIdx.x] += sums[threadIdx.x + half];
    }
    if (threadIdx.x == 0) distances[blockIdx.x] = sums[0];
}

struct Near {
    const double* distances;
    __device__ bool operator()(std::size_t i) const { return distances[i] >= -projected && distances[i] <= projected; }
};

// Signs drawn after the call turn each signal's n sums into one that is quick to make: were an element off, the sums
// would be.
class Projection {
  public:
    void expect_right(const Buffer<float>& out, const Buffer<float>& signals, const Buffer<float>& filter) {
        const std::uint64_t inputs = podium::current_seed();
        podium::fill(signs_.data(), signs_.size(), Signs{podium::fresh_seed()});
        podium::current_seed() = inputs;
        CUDA_CHECK(cudaMemset(weights_.data(), 0, weights_.bytes()));
        distances_.poison();
        weigh_kernel<<<dim3(length / podium::block_threads, chunks), podium::block_threads>>>(
            weights_.data(), signs_.data(), filter.data());
        distance_kernel<<<batch, podium::block_threads>>>(distances_.data(), out.data(), signs_.data(), signals.data(),
                                                          weights_.data());
        CUDA_CHECK(cudaGetLastError());
        podium::expect_all(batch, Near{distances_.data()}, "signals in out");
    }

  private:
    Buffer<float> signs_{length};
    Buffer<double> weights_{length}, distances_{batch};
};

struct Inputs {
    Buffer<float> signals{std::size_t{batch} * length}, filter{length};
    void make(std::uint64_t seed) {
        podium::fill_uniform(signals, podium::mix(seed + 1), -1.0f, 1.0f);
        podium::fill_uniform(filter, podium::mix(seed + 2), -1.0f / 128, 1.0f / 128);
    }
};

void benchmark() {
    Inputs inputs, again;
    Buffer<float> out(inputs.signals.size()), kept(out.size());
    Projection projection;
    podium::CacheFlush flush;
    std::uint64_t seed = 0;
    podium::benchmark(
        [&](std::uint64_t fresh) {
            seed = fresh;
            inputs.make(seed);
            out.poison();
            flush();
        },
        [&] { fft_convolution(inputs.signals.data(), inputs.filter.data(), out.data(), batch, length); },
        [&] { kept.copy_from(out); },
        [&] {
            again.make(seed);
            podium::expect_equal(inputs.signals, again.signals, "signals after the call");
            podium::expect_equal(inputs.filter, again.filter, "filter after the call");
            projection.expect_right(kept, again.signals, again.filter);
        });
    out.expect_guards("out");
}

}  // namespace

int main(int argc, char** argv) {
    podium::wants_benchmark(argc, argv) ? benchmark() : tests();
    return 0;
}
