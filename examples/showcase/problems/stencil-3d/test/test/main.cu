// Tests stencil_3d; with --perf calls it twenty times in the range "bench_region", checking every point of every call.
#include "podium_bench.cuh"

// Repeated from the context on purpose: the harness includes nothing that a solution may replace.
struct StencilWeights {
    float center;
    float near;
    float far;
};

void stencil_3d(const float* in, float* out, std::size_t nz, std::size_t ny, std::size_t nx, StencilWeights weights);

namespace {

constexpr double tolerance = 1e-5;  // Of the sum of the terms' absolute values.

struct Grid {
    std::size_t nz, ny, nx;
    __host__ __device__ std::size_t size() const { return nz * ny * nx; }
};

// The points at distance `d` from `i` along an axis whose neighbours lie `stride` apart and which has `n` places.
template <class Value>
__host__ __device__ void add_pair(const Value& value, std::size_t i, std::size_t place, std::size_t n,
                                  std::size_t stride, std::size_t d, double weight, double& sum, double& size) {
    if (place >= d) {
        const double term = weight * value(i - d * stride);
        sum += term;
        size += fabs(term);
    }
    if (place + d < n) {
        const double term = weight * value(i + d * stride);
        sum += term;
        size += fabs(term);
    }
}

template <class Value>
__host__ __device__ bool is_right(float got, const Value& value, Grid grid, StencilWeights weights, std::size_t i) {
    double sum = static_cast<double>(weights.center) * value(i);
    double size = fabs(sum);
    for (std::size_t d = 1; d <= 2; ++d) {
        const double weight = d == 1 ? weights.near : weights.far;
        add_pair(value, i, i % grid.nx, grid.nx, 1, d, weight, sum, size);
        add_pair(value, i, i / grid.nx % grid.ny, grid.ny, grid.nx, d, weight, sum, size);
        add_pair(value, i, i / grid.nx / grid.ny, grid.nz, grid.nx * grid.ny, d, weight, sum, size);
    }
    return podium::is_close(got, sum, 0.0, tolerance * size);
}

struct Stored {
    const float* values;
    __host__ __device__ float operator()(std::size_t i) const { return values[i]; }
};

void expect_right(const std::vector<float>& in, Grid grid, StencilWeights weights) {
    podium::Buffer<float> device_in(in), out(in.size());
    stencil_3d(device_in.data(), out.data(), grid.nz, grid.ny, grid.nx, weights);
    podium::finish("stencil_3d");
    const std::vector<float> got = out.download();
    for (std::size_t i = 0; i < got.size(); ++i) {
        if (!is_right(got[i], Stored{in.data()}, grid, weights, i)) {
            podium::fail("%zu x %zu x %zu: point %zu is %.9g", grid.nz, grid.ny, grid.nx, i, got[i]);
        }
    }
    out.expect_guards("out");
    device_in.expect_unchanged(in, "in");
}

StencilWeights random_weights(podium::Random& random) {
    return {random.uniform(-2, 2), random.uniform(-1, 1), random.uniform(-1, 1)};
}

// A single point that is not zero shows where its value goes.
void test_spikes(podium::Random& random, Grid grid) {
    for (int i = 0; i < 4 && grid.size() > 0; ++i) {
        std::vector<float> in(grid.size(), 0.0f);
        in[i == 0 ? 0 : i == 1 ? grid.size() - 1 : random.below(grid.size())] = 1.0f;
        expect_right(in, grid, {1.0f, 0.5f, 0.25f});
    }
}

void tests() {
    podium::Random random(podium::fresh_seed());
    const Grid grids[] = {{0, 4, 4},   {4, 0, 4},    {4, 4, 0},  {1, 1, 1},    {1, 1, 5},     {2, 3, 4},     {3, 3, 3},
                          {5, 5, 5},   {33, 17, 65}, {64, 64, 64}, {7, 130, 31}, {1, 300, 301}, {130, 2, 70},  {19, 36, 128},
                          {40, 9, 64}, {1, 1, 70001}, {70001, 1, 1}, {1, 70001, 2}, {3, 5, 4096}};
    for (const Grid grid : grids) {
        expect_right(random.floats(grid.size(), -1, 1), grid, random_weights(random));
        expect_right(random.floats(grid.size(), -1e30f, 1e30f), grid, random_weights(random));
        expect_right(random.floats(grid.size(), 1, 2), grid, {0.0f, 0.0f, 1.0f});
        expect_right(random.floats(grid.size(), 1, 2), grid, {-6.0f, 1.0f, 0.0f});
        test_spikes(random, grid);
    }
    for (int i = 0; i < 10; ++i) {
        const Grid grid{1 + random.below(40), 1 + random.below(60), 1 + random.below(200)};
        expect_right(random.floats(grid.size(), -1, 1), grid, random_weights(random));
    }
}

constexpr Grid timed_grid{256, 512, 512};

struct Drawn {
    std::uint64_t seed;
    __host__ __device__ float operator()(std::size_t i) const { return podium::random_uniform(seed, i, -1, 1); }
};

struct RightOutput {
    Drawn drawn;
    StencilWeights weights;
    const float* got;
    __device__ bool operator()(std::size_t i) const { return is_right(got[i], drawn, timed_grid, weights, i); }
};

void benchmark() {
    podium::Buffer<float> in(timed_grid.size()), out(timed_grid.size()), kept(timed_grid.size());
    podium::CacheFlush flush;
    Drawn drawn{0};
    StencilWeights weights{};
    podium::benchmark(
        [&](std::uint64_t seed) {
            podium::Random random(~seed);
            weights = random_weights(random);
            drawn = Drawn{seed};
            podium::fill(in.data(), in.size(), drawn);
            out.poison();
            flush();
        },
        [&] { stencil_3d(in.data(), out.data(), timed_grid.nz, timed_grid.ny, timed_grid.nx, weights); },
        [&] { kept.copy_from(out); },
        [&] { podium::expect_all(timed_grid.size(), RightOutput{drawn, weights, kept.data()}, "out"); });
    out.expect_guards("out");
}

}  // namespace

int main(int argc, char** argv) {
    podium::wants_benchmark(argc, argv) ? benchmark() : tests();
    return 0;
}
