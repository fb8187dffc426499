// Tests bias_gelu; with --perf calls it twenty times in the range "bench_region", checking every element of every call.
#include "podium_bench.cuh"

// Repeated from the context on purpose: the harness includes nothing that a solution may replace.
void bias_gelu(const float* x, const float* bias, const float* residual, float* out, std::size_t rows,
               std::size_t columns);

namespace {

constexpr double tolerance = 1e-5;  // Relative and absolute.

struct Shape {
    std::size_t rows;
    std::size_t columns;
};

__host__ __device__ double reference(double x, double bias, double residual) {
    const double v = x + bias;
    return residual + 0.5 * v * (1.0 + erf(v * 0.70710678118654752440));
}

void expect_right(const std::vector<float>& x, const std::vector<float>& bias, const std::vector<float>& residual,
                  Shape shape, std::size_t skew) {
    podium::Buffer<float> device_x(x, skew), device_bias(bias, skew), device_residual(residual, skew);
    podium::Buffer<float> out(x.size(), skew);
    bias_gelu(device_x.data(), device_bias.data(), device_residual.data(), out.data(), shape.rows, shape.columns);
    podium::finish("bias_gelu");
    std::vector<double> expected(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) expected[i] = reference(x[i], bias[i % shape.columns], residual[i]);
    podium::expect_close(out.download(), expected, tolerance, tolerance, "out");
    out.expect_guards("out");
    device_x.expect_unchanged(x, "x");
    device_bias.expect_unchanged(bias, "bias");
    device_residual.expect_unchanged(residual, "residual");
}

void test_shape(podium::Random& random, Shape shape, float size, std::size_t skew) {
    const std::size_t elements = shape.rows * shape.columns;
    const auto x = random.floats(elements, -size, size);
    const auto bias = random.floats(shape.columns, -size, size);
    expect_right(x, bias, random.floats(elements, -1, 1), shape, skew);
}

// Far out gelu(v) is v or 0, near -0.75 it is least, and there the short cuts by tanh or a logistic curve show.
void test_special_values() {
    const std::vector<float> x{0.0f,  -0.0f, 1e-30f, -1e-30f, 0.75f, -0.75f, 3.0f,   -3.0f,
                               6.0f,  -6.0f, 12.0f,  -12.0f,  1e4f,  -1e4f,  1e30f,  -1e30f};
    expect_right(x, {0.0f}, std::vector<float>(x.size(), 0.0f), {x.size(), 1}, 0);
    expect_right(x, std::vector<float>(x.size(), 0.0f), std::vector<float>(x.size(), 0.5f), {1, x.size()}, 1);
}

void tests() {
    podium::Random random(podium::fresh_seed());
    test_special_values();
    const Shape shapes[] = {{0, 0},   {0, 5},    {3, 0},     {1, 1},      {1, 7},      {7, 1},         {31, 33},
                            {64, 64}, {1, 4099}, {257, 255}, {100, 1000}, {1023, 257}, {3, 1u << 18}, {1u << 18, 3}};
    for (const Shape shape : shapes) {
        for (std::size_t skew = 0; skew < 4; ++skew) test_shape(random, shape, 4.0f, skew);
        test_shape(random, shape, 0.01f, 0);
        test_shape(random, shape, 50.0f, 0);
    }
}

constexpr Shape timed_shape{16384, 4096};
constexpr std::size_t timed_size = timed_shape.rows * timed_shape.columns;

struct Inputs {
    podium::Uniform x, bias, residual;
    explicit Inputs(std::uint64_t seed)
        : x{seed, -4, 4}, bias{podium::mix(seed + 1), -1, 1}, residual{podium::mix(seed + 2), -1, 1} {}
};

struct RightOutput {
    Inputs inputs;
    const float* got;
    __device__ bool operator()(std::size_t i) const {
        const double expected = reference(inputs.x(i), inputs.bias(i % timed_shape.columns), inputs.residual(i));
        return podium::is_close(got[i], expected, tolerance, tolerance);
    }
};

void benchmark() {
    podium::Buffer<float> x(timed_size), bias(timed_shape.columns), residual(timed_size), out(timed_size);
    podium::Buffer<float> kept(timed_size);
    podium::CacheFlush flush;
    Inputs inputs(0);
    podium::benchmark(
        [&](std::uint64_t seed) {
            inputs = Inputs(seed);
            podium::fill(x.data(), x.size(), inputs.x);
            podium::fill(bias.data(), bias.size(), inputs.bias);
            podium::fill(residual.data(), residual.size(), inputs.residual);
            out.poison();
            flush();
        },
        [&] {
            bias_gelu(x.data(), bias.data(), residual.data(), out.data(), timed_shape.rows, timed_shape.columns);
        },
        [&] { kept.copy_from(out); },
        [&] { podium::expect_all(timed_size, RightOutput{inputs, kept.data()}, "out"); });
    out.expect_guards("out");
}

}  // namespace

int main(int argc, char** argv) {
    podium::wants_benchmark(argc, argv) ? benchmark() : tests();
    return 0;
}
