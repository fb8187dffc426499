// Tests row_softmax; with --perf calls it twenty times in the range "bench_region", checking every element of every call.
#include <algorithm>

#include "podium_bench.cuh"

// Repeated from the context on purpose: the harness includes nothing that a solution may replace.
void row_softmax(const float* x, float* out, std::size_t rows, std::size_t columns);

namespace {

constexpr double relative = 1e-4;
constexpr double absolute = 1e-12;

struct Shape {
    std::size_t rows;
    std::size_t columns;
};

std::vector<double> reference(const std::vector<float>& x, Shape shape) {
    std::vector<double> expected(x.size(), 0.0);
    for (std::size_t first = 0; first < x.size(); first += shape.columns) {
        const float largest = *std::max_element(x.begin() + first, x.begin() + first + shape.columns);
        if (largest == -INFINITY) continue;
        double sum = 0.0;
        for (std::size_t i = first; i < first + shape.columns; ++i) {
            expected[i] = std::exp(static_cast<double>(x[i]) - largest);
            sum += expected[i];
        }
        for (std::size_t i = first; i < first + shape.columns; ++i) expected[i] /= sum;
    }
    return expected;
}

void expect_right(const std::vector<float>& x, Shape shape, const char* what) {
    podium::Buffer<float> device_x(x), out(x.size());
    row_softmax(device_x.data(), out.data(), shape.rows, shape.columns);
    podium::finish("row_softmax");
    podium::expect_close(out.download(), reference(x, shape), relative, absolute, what);
    out.expect_guards("out");
    device_x.expect_unchanged(x, "x");
}

// What overflows without the shift, what an online sum stumbles over, and masked elements.
std::vector<float> masked(podium::Random& random, Shape shape) {
    std::vector<float> x = random.floats(shape.rows * shape.columns, -8, 8);
    for (std::size_t i = 0; i < x.size(); ++i) {
        const std::size_t row = i / shape.columns;
        if (row % 3 == 0 || (row % 3 == 1 && i % shape.columns < shape.columns / 2) || random.below(4) == 0) {
            x[i] = -INFINITY;
        }
    }
    return x;
}

std::vector<float> sorted_rows(podium::Random& random, Shape shape) {
    std::vector<float> x = random.floats(shape.rows * shape.columns, -60, 60);
    for (std::size_t row = 0; row < shape.rows; ++row) {
        const auto first = x.begin() + static_cast<std::ptrdiff_t>(row * shape.columns);
        const auto last = first + static_cast<std::ptrdiff_t>(shape.columns);
        std::sort(first, last);
        if (row % 2 == 1) std::reverse(first, last);
    }
    return x;
}

std::vector<float> one_peak(podium::Random& random, Shape shape) {
    std::vector<float> x = random.floats(shape.rows * shape.columns, -3e38f, -1e38f);
    for (std::size_t row = 0; row < shape.rows && shape.columns > 0; ++row) {
        x[row * shape.columns + random.below(shape.columns)] = 3e38f;
    }
    return x;
}

void test_shape(podium::Random& random, Shape shape) {
    const std::size_t size = shape.rows * shape.columns;
    expect_right(random.floats(size, -8, 8), shape, "random logits");
    expect_right(random.floats(size, 9990, 10010), shape, "large logits");
    expect_right(random.floats(size, -10010, -9990), shape, "large negative logits");
    expect_right(std::vector<float>(size, 0.3f), shape, "equal logits");
    expect_right(masked(random, shape), shape, "masked logits");
    expect_right(sorted_rows(random, shape), shape, "sorted logits");
    expect_right(one_peak(random, shape), shape, "one peak");
}

void tests() {
    podium::Random random(podium::fresh_seed());
    const Shape shapes[] = {{0, 0},    {0, 4},     {4, 0},     {1, 1},    {5, 2},      {7, 31},    {9, 33},   {6, 127},
                            {3, 1000}, {65, 1024}, {33, 1025}, {5, 4096}, {17, 8191},  {3, 12289}, {2, 100003},
                            {70001, 3}, {4099, 64}};
    for (const Shape shape : shapes) test_shape(random, shape);
}

constexpr Shape timed_shape{16384, 4096};
constexpr std::size_t timed_size = timed_shape.rows * timed_shape.columns;

// Rows lie at different heights, and one element in 64 is masked.
struct Logits {
    std::uint64_t seed;
    __device__ float operator()(std::size_t i) const {
        const std::uint64_t bits = podium::random_bits(seed, i);
        if (bits % 64 == 0) return -INFINITY;
        const float height = podium::random_uniform(~seed, i / timed_shape.columns, -200.0f, 200.0f);
        return height + podium::random_uniform(bits, i, -8.0f, 8.0f);
    }
};

struct RowFacts {
    float largest;
    double sum;
};

// A block of 256 threads per row.
__global__ void row_facts_kernel(Logits logits, RowFacts* facts) {
    __shared__ float largest[256];
    __shared__ double sum[256];
    const std::size_t first = blockIdx.x * timed_shape.columns;
    float my_largest = -INFINITY;
    for (std::size_t c = threadIdx.x; c < timed_shape.columns; c += 256) my_largest = fmaxf(my_largest, logits(first + c));
    largest[threadIdx.x] = my_largest;
    __syncthreads();
    for (unsigned int half = 128; half > 0; half /= 2) {
        if (threadIdx.x < half) largest[threadIdx.x] = fmaxf(largest[threadIdx.x], largest[threadIdx.x + half]);
        __syncthreads();
    }
    double my_sum = 0.0;
    for (std::size_t c = threadIdx.x; c < timed_shape.columns; c += 256) {
        my_sum += exp(static_cast<double>(logits(first + c)) - largest[0]);
    }
    sum[threadIdx.x] = my_sum;
    __syncthreads();
    for (unsigned int half = 128; half > 0; half /= 2) {
        if (threadIdx.x < half) sum[threadIdx.x] += sum[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) facts[blockIdx.x] = {largest[0], sum[0]};
}

struct RightOutput {
    Logits logits;
    const RowFacts* facts;
    const float* got;
    __device__ bool operator()(std::size_t i) const {
        const RowFacts row = facts[i / timed_shape.columns];
        const double expected = exp(static_cast<double>(logits(i)) - row.largest) / row.sum;
        return podium::is_close(got[i], expected, relative, absolute);
    }
};

void benchmark() {
    podium::Buffer<float> x(timed_size), out(timed_size), kept(timed_size);
    podium::Buffer<RowFacts> facts(timed_shape.rows);
    podium::CacheFlush flush;
    Logits logits{0};
    podium::benchmark(
        [&](std::uint64_t seed) {
            logits = Logits{seed};
            podium::fill(x.data(), x.size(), logits);
            out.poison();
            facts.poison();
            flush();
        },
        [&] { row_softmax(x.data(), out.data(), timed_shape.rows, timed_shape.columns); },
        [&] { kept.copy_from(out); },
        [&] {
            row_facts_kernel<<<static_cast<unsigned int>(timed_shape.rows), 256>>>(logits, facts.data());
            podium::expect_all(timed_size, RightOutput{logits, facts.data(), kept.data()}, "out");
        });
    out.expect_guards("out");
}

}  // namespace

int main(int argc, char** argv) {
    podium::wants_benchmark(argc, argv) ? benchmark() : tests();
    return 0;
}
