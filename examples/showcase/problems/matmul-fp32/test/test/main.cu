// Tests matmul_fp32; with --perf calls it twenty times in the range "bench_region", checking every element of every call.
#include "podium_bench.cuh"

// Repeated from the context on purpose: the harness includes nothing that a solution may replace.
void matmul_fp32(const float* a, const float* b, float* c, std::size_t m, std::size_t n, std::size_t k);

namespace {

constexpr double tolerance = 1e-5;  // Of the sum of the products' absolute values.

struct Shape {
    std::size_t m, n, k;
};

void expect_right(const std::vector<float>& a, const std::vector<float>& b, Shape shape) {
    podium::Buffer<float> device_a(a), device_b(b), c(shape.m * shape.n);
    matmul_fp32(device_a.data(), device_b.data(), c.data(), shape.m, shape.n, shape.k);
    podium::finish("matmul_fp32");
    const std::vector<float> got = c.download();
    std::vector<double> sum(shape.n), size(shape.n);
    for (std::size_t row = 0; row < shape.m; ++row) {
        sum.assign(shape.n, 0.0);
        size.assign(shape.n, 0.0);
        for (std::size_t i = 0; i < shape.k; ++i) {
            const double factor = a[row * shape.k + i];
            for (std::size_t column = 0; column < shape.n; ++column) {
                const double term = factor * b[i * shape.n + column];
                sum[column] += term;
                size[column] += std::fabs(term);
            }
        }
        for (std::size_t column = 0; column < shape.n; ++column) {
            const float value = got[row * shape.n + column];
            if (!podium::is_close(value, sum[column], 0.0, tolerance * size[column])) {
                podium::fail("%zu x %zu x %zu: c[%zu][%zu] is %.9g, not %.9g", shape.m, shape.n, shape.k, row, column,
                             value, sum[column]);
            }
        }
    }
    c.expect_guards("c");
    device_a.expect_unchanged(a, "a");
    device_b.expect_unchanged(b, "b");
}

void test_shape(podium::Random& random, Shape shape) {
    expect_right(random.floats(shape.m * shape.k, -1, 1), random.floats(shape.k * shape.n, -1, 1), shape);
    expect_right(random.floats(shape.m * shape.k, 0, 1), random.floats(shape.k * shape.n, 1, 2), shape);
}

// Rows and columns of very different size: a sum that mixes them up, or reads one too many, shows.
void test_scales(podium::Random& random, Shape shape) {
    std::vector<float> a = random.floats(shape.m * shape.k, -1, 1);
    std::vector<float> b = random.floats(shape.k * shape.n, -1, 1);
    for (std::size_t i = 0; i < a.size(); ++i) a[i] *= i / shape.k % 2 == 0 ? 1e12f : 1e-12f;
    for (std::size_t i = 0; i < b.size(); ++i) b[i] *= i % shape.n % 3 == 0 ? 1e-6f : 1e6f;
    expect_right(a, b, shape);
}

// The identity brings the other factor back.
void test_identity(podium::Random& random, std::size_t n) {
    std::vector<float> identity(n * n, 0.0f);
    for (std::size_t i = 0; i < n; ++i) identity[i * n + i] = 1.0f;
    const std::vector<float> other = random.floats(n * n, -100, 100);
    expect_right(identity, other, {n, n, n});
    expect_right(other, identity, {n, n, n});
}

void tests() {
    podium::Random random(podium::fresh_seed());
    const Shape shapes[] = {{0, 3, 4},    {3, 0, 4},     {3, 4, 0},     {1, 1, 1},      {1, 70, 5},     {70, 1, 5},
                            {5, 6, 1},    {16, 16, 16},  {31, 33, 32},  {33, 31, 17},   {64, 64, 64},   {65, 63, 66},
                            {100, 52, 8}, {128, 128, 8}, {132, 260, 36}, {127, 129, 255}, {256, 128, 64}, {1, 1, 1500},
                            {7, 9, 1500}, {72, 68, 1024}, {300, 4, 40}, {4, 300, 40}};
    for (const Shape shape : shapes) {
        test_shape(random, shape);
        test_scales(random, shape);
    }
    test_identity(random, 97);
    test_identity(random, 128);
    for (int i = 0; i < 10; ++i) test_shape(random, {1 + random.below(150), 1 + random.below(150), 1 + random.below(150)});
}

constexpr Shape timed_shape{2048, 2048, 1024};

struct Drawn {
    podium::Uniform a, b;
    explicit Drawn(std::uint64_t seed) : a{seed, -1, 1}, b{podium::mix(seed + 1), -1, 1} {}
};

// Sums in double precision, a block of 32 x 32 threads for as many elements; `right` counts those that are close.
__global__ void check_kernel(Drawn drawn, const float* got, unsigned long long* right) {
    __shared__ double a_tile[32][32];
    __shared__ double b_tile[32][32];
    const std::size_t row = blockIdx.y * 32 + threadIdx.y;
    const std::size_t column = blockIdx.x * 32 + threadIdx.x;
    double sum = 0.0;
    double size = 0.0;
    for (std::size_t first = 0; first < timed_shape.k; first += 32) {
        a_tile[threadIdx.y][threadIdx.x] = drawn.a(row * timed_shape.k + first + threadIdx.x);
        b_tile[threadIdx.y][threadIdx.x] = drawn.b((first + threadIdx.y) * timed_shape.n + column);
        __syncthreads();
        for (int i = 0; i < 32; ++i) {
            const double term = a_tile[threadIdx.y][i] * b_tile[i][threadIdx.x];
            sum += term;
            size += fabs(term);
        }
        __syncthreads();
    }
    const bool close = podium::is_close(got[row * timed_shape.n + column], sum, 0.0, tolerance * size);
    const int together = __syncthreads_count(close);
    if (threadIdx.x == 0 && threadIdx.y == 0) atomicAdd(right, static_cast<unsigned long long>(together));
}

void expect_product(const Drawn& drawn, const podium::Buffer<float>& got) {
    podium::Buffer<unsigned long long> right(std::vector<unsigned long long>{0});
    check_kernel<<<dim3(timed_shape.n / 32, timed_shape.m / 32), dim3(32, 32)>>>(drawn, got.data(), right.data());
    CUDA_CHECK(cudaGetLastError());
    const unsigned long long count = right.download()[0];
    if (count != got.size()) podium::fail("c: %llu of %zu elements are right", count, got.size());
}

void benchmark() {
    podium::Buffer<float> a(timed_shape.m * timed_shape.k), b(timed_shape.k * timed_shape.n);
    podium::Buffer<float> c(timed_shape.m * timed_shape.n), kept(timed_shape.m * timed_shape.n);
    Drawn drawn(0);
    podium::benchmark(
        [&](std::uint64_t seed) {
            drawn = Drawn(seed);
            podium::fill(a.data(), a.size(), drawn.a);
            podium::fill(b.data(), b.size(), drawn.b);
            c.poison();
        },
        [&] { matmul_fp32(a.data(), b.data(), c.data(), timed_shape.m, timed_shape.n, timed_shape.k); },
        [&] { kept.copy_from(c); }, [&] { expect_product(drawn, kept); });
    c.expect_guards("c");
}

}  // namespace

int main(int argc, char** argv) {
    podium::wants_benchmark(argc, argv) ? benchmark() : tests();
    return 0;
}
