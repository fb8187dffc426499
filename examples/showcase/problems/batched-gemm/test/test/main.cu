// Tests and times batched_gemm.
#include "podium_bench.cuh"

// Repeated from the context on purpose: the harness includes nothing that a solution may replace.
void batched_gemm(const float* a, const float* b, float* c, int m, int n, int k, int batch);

namespace {

using podium::Buffer;

// Per element, for inputs in [-1, 1]: enough for any order of summing in single precision, too little for TF32.
constexpr double absolute = 1e-4;

struct Shape {
    int m, n, k, batch;
};

// ---- Tests ---------------------------------------------------------------------------------------------------------

std::vector<float> whole_numbers(podium::Random& random, std::size_t size) {
    std::vector<float> values(size);
    for (float& value : values) value = static_cast<float>(random.between(-8, 8));
    return values;
}

std::vector<double> reference(const std::vector<float>& a, const std::vector<float>& b, Shape shape) {
    const auto [m, n, k, batch] = shape;
    std::vector<double> c(std::size_t(batch) * m * n, 0.0);
    for (int which = 0; which < batch; ++which) {
        for (int i = 0; i < m; ++i) {
            double* row = &c[(std::size_t(which) * m + i) * n];
            for (int p = 0; p < k; ++p) {
                const double scale = a[(std::size_t(which) * m + i) * k + p];
                const float* source = &b[(std::size_t(which) * k + p) * n];
                for (int j = 0; j < n; ++j) row[j] += scale * source[j];
            }
        }
    }
    return c;
}

void test_shape(Shape shape, const std::vector<float>& a, const std::vector<float>& b, double tolerance) {
    const auto [m, n, k, batch] = shape;
    const Buffer<float> a_device(a), b_device(b), c_device(std::size_t(batch) * m * n);
    batched_gemm(a_device.data(), b_device.data(), c_device.data(), m, n, k, batch);
    podium::finish("batched_gemm");
    char what[96];
    std::snprintf(what, sizeof what, "C for m=%d n=%d k=%d batch=%d", m, n, k, batch);
    podium::expect_close(c_device.download(), reference(a, b, shape), 0, tolerance, what);
    c_device.expect_guards("C");
    a_device.expect_unchanged(a, "A");
    b_device.expect_unchanged(b, "B");
}

void test_both(podium::Random& random, Shape shape) {
    const std::size_t a_size = std::size_t(shape.batch) * shape.m * shape.k;
    const std::size_t b_size = std::size_t(shape.batch) * shape.k * shape.n;
    test_shape(shape, whole_numbers(random, a_size), whole_numbers(random, b_size), 0);
    test_shape(shape, random.floats(a_size, -1.0f, 1.0f), random.floats(b_size, -1.0f, 1.0f), absolute);
}

void tests() {
    podium::Random random(podium::fresh_seed());
    const Shape shapes[] = {{1, 1, 1, 1},   {1, 1, 1, 700}, {2, 3, 4, 5},    {4, 2, 3, 9},      {16, 16, 16, 32},
                            {17, 5, 33, 7}, {1, 64, 8, 40}, {64, 1, 8, 40},  {31, 33, 29, 11},  {64, 32, 96, 12},
                            {96, 96, 96, 1}, {96, 96, 96, 9}, {96, 48, 64, 6}, {128, 128, 128, 3}, {130, 66, 5, 4},
                            {3, 200, 100, 8}, {8, 8, 8, 1030}, {96, 96, 95, 5}, {97, 96, 96, 3},  {96, 96, 100, 150}};
    for (const Shape& shape : shapes) test_both(random, shape);
    for (int round = 0; round < 10; ++round) {
        test_both(random, {random.between(1, 100), random.between(1, 100), random.between(1, 100), random.between(1, 12)});
    }
}

// ---- Benchmark -----------------------------------------------------------------------------------------------------

constexpr int side = 96, count = 4096;
constexpr std::size_t matrix = std::size_t{side} * side;

// The harness's own product of one element, in double precision.
struct RightElement {
    const float* a;
    const float* b;
    const float* c;
    __device__ bool operator()(std::size_t i) const {
        const std::size_t start = i / matrix * matrix;
        const float* row = a + i / side * side;
        const float* column = b + start + i % side;
        double sum = 0;
        for (int p = 0; p < side; ++p) sum += static_cast<double>(row[p]) * column[p * side];
        return podium::is_close(c[i], sum, 0, absolute);
    }
};

void benchmark() {
    Buffer<float> a(matrix * count), b(matrix * count), c(matrix * count), kept(matrix * count);
    Buffer<float> a_again(a.size()), b_again(b.size());
    podium::CacheFlush flush;
    std::uint64_t seed = 0;
    podium::benchmark(
        [&](std::uint64_t fresh) {
            seed = fresh;
            podium::fill_uniform(a, podium::mix(seed + 1), -1.0f, 1.0f);
            podium::fill_uniform(b, podium::mix(seed + 2), -1.0f, 1.0f);
            c.poison();
            flush();
        },
        [&] { batched_gemm(a.data(), b.data(), c.data(), side, side, side, count); }, [&] { kept.copy_from(c); },
        [&] {
            podium::fill_uniform(a_again, podium::mix(seed + 1), -1.0f, 1.0f);
            podium::fill_uniform(b_again, podium::mix(seed + 2), -1.0f, 1.0f);
            podium::expect_equal(a, a_again, "A after the call");
            podium::expect_equal(b, b_again, "B after the call");
            podium::expect_all(c.size(), RightElement{a_again.data(), b_again.data(), kept.data()}, "C");
        });
    c.expect_guards("C");
}

}  // namespace

int main(int argc, char** argv) {
    podium::wants_benchmark(argc, argv) ? benchmark() : tests();
    return 0;
}
