// Tests and times layernorm. `./test.out` tests odd shapes and values; `./test.out --perf` normalises 16384 x 4096.
#include "podium_bench.cuh"

// Repeated from the context on purpose: the harness includes nothing that a solution may replace.
void layernorm(const float* x, const float* gamma, const float* beta, float* y, int rows, int columns, float epsilon);

namespace {

using Floats = podium::Buffer<float>;

constexpr double tolerance = 1e-3;  // Of |gamma| + |beta|.

__host__ __device__ bool is_right(float got, double expected, double gamma, double beta) {
    return podium::is_close(got, expected, 0, tolerance * (fabs(gamma) + fabs(beta)));
}

struct Case {
    int rows;
    int columns;
    float epsilon;
    std::vector<float> x, gamma, beta;

    Case(podium::Random& random, int row_count, int column_count, float low, float high, float little = 1e-5f)
        : rows(row_count), columns(column_count), epsilon(little) {
        x = random.floats(static_cast<std::size_t>(rows) * columns, low, high);
        gamma = random.floats(columns, -2.0f, 2.0f);
        beta = random.floats(columns, -2.0f, 2.0f);
    }
};

void expect_row(const Case& given, const std::vector<float>& got, int row) {
    const float* x = given.x.data() + static_cast<std::size_t>(row) * given.columns;
    double mean = 0, variance = 0;
    for (int c = 0; c < given.columns; ++c) mean += x[c];
    mean /= given.columns;
    for (int c = 0; c < given.columns; ++c) variance += (x[c] - mean) * (x[c] - mean);
    variance /= given.columns;
    for (int c = 0; c < given.columns; ++c) {
        const double expected = (x[c] - mean) / std::sqrt(variance + given.epsilon) * given.gamma[c] + given.beta[c];
        const float found = got[static_cast<std::size_t>(row) * given.columns + c];
        if (!is_right(found, expected, given.gamma[c], given.beta[c])) {
            podium::fail("%d x %d: y[%d][%d] is %.9g, not %.9g; the row's mean is %.9g, its variance %.9g", given.rows,
                         given.columns, row, c, found, expected, mean, variance);
        }
    }
}

// `skew` elements shift the start of all arrays, which are then aligned to four bytes only.
void expect_normalised(const Case& given, std::size_t skew = 0) {
    Floats x(given.x, skew), gamma(given.gamma, skew), beta(given.beta, skew), y(given.x.size(), skew);
    layernorm(x.data(), gamma.data(), beta.data(), y.data(), given.rows, given.columns, given.epsilon);
    podium::finish("the call");
    x.expect_unchanged(given.x, "x");
    gamma.expect_unchanged(given.gamma, "gamma");
    beta.expect_unchanged(given.beta, "beta");
    y.expect_guards("y");
    const auto got = y.download();
    for (int row = 0; row < given.rows; ++row) expect_row(given, got, row);
}

void test_shapes(podium::Random& random) {
    for (const int columns : {1, 2, 3, 4, 5, 7, 8, 31, 32, 33, 64, 100, 127, 128, 129, 255, 256, 257, 768, 1000, 1023,
                              1024, 1025, 2048, 4092, 4095, 4096, 4097, 4100, 6144, 8192, 12345, 20000}) {
        for (const int rows : {1, 2, 5, 33}) expect_normalised(Case(random, rows, columns, -1.0f, 1.0f));
        for (std::size_t skew = 1; skew < 4; ++skew) expect_normalised(Case(random, 3, columns, -1.0f, 1.0f), skew);
    }
    for (const int rows : {0, 1000, 70001}) expect_normalised(Case(random, rows, 12, -1.0f, 1.0f));
    for (int round = 0; round < 20; ++round) {
        expect_normalised(Case(random, random.between(1, 100), random.between(1, 5000), -3.0f, 3.0f));
    }
}

// Means that are large beside the spread, spreads far below and above epsilon, rows without any.
void test_values(podium::Random& random) {
    for (const int columns : {64, 1000, 4096, 20000}) {
        expect_normalised(Case(random, 40, columns, 498.0f, 502.0f));
        expect_normalised(Case(random, 40, columns, -101.0f, -100.0f));
        expect_normalised(Case(random, 40, columns, -2e-4f, 2e-4f));
        expect_normalised(Case(random, 40, columns, -1e6f, 1e6f));
        expect_normalised(Case(random, 40, columns, -1.0f, 1.0f, 0.25f));
        expect_normalised(Case(random, 40, columns, 3.0f, 3.0f));
        Case outlier(random, 40, columns, -1.0f, 1.0f);
        for (int row = 0; row < 40; ++row) outlier.x[static_cast<std::size_t>(row) * columns + row] = 1000.0f;
        expect_normalised(outlier);
    }
}

int test() {
    podium::Random random(podium::fresh_seed());
    test_shapes(random);
    test_values(random);
    return 0;
}

// Rows have whole-numbered offsets from -8 to 7; everything but the last addition is exact.
struct MakeX {
    std::uint64_t seed;
    int columns;
    __device__ float operator()(std::size_t i) const {
        const int offset = static_cast<int>(podium::random_bits(~seed, i / columns) % 16) - 8;
        return podium::random_uniform(seed, i, -1.0f, 1.0f) + static_cast<float>(offset);
    }
};

struct Moments {
    double mean;
    double scale;
};

__device__ double block_sum(double mine) {
    __shared__ double partial[podium::block_threads];
    __syncthreads();
    partial[threadIdx.x] = mine;
    __syncthreads();
    for (int half = podium::block_threads / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) partial[threadIdx.x] += partial[threadIdx.x + half];
        __syncthreads();
    }
    return partial[0];
}

// One block per row; from the seed alone, so that nothing the solution wrote to `x` matters.
__global__ void find_moments(Moments* moments, MakeX make, double epsilon) {
    const std::size_t begin = std::size_t{blockIdx.x} * make.columns;
    double sum = 0, squares = 0;
    for (int c = threadIdx.x; c < make.columns; c += blockDim.x) sum += make(begin + c);
    const double mean = block_sum(sum) / make.columns;
    for (int c = threadIdx.x; c < make.columns; c += blockDim.x) {
        const double distance = make(begin + c) - mean;
        squares += distance * distance;
    }
    const double variance = block_sum(squares) / make.columns;
    if (threadIdx.x == 0) moments[blockIdx.x] = {mean, 1 / sqrt(variance + epsilon)};
}

struct RightElement {
    const float* y;
    const Moments* moments;
    MakeX x;
    podium::Uniform gamma;
    podium::Uniform beta;

    __device__ bool operator()(std::size_t i) const {
        const Moments row = moments[i / x.columns];
        const double g = gamma(i % x.columns);
        const double b = beta(i % x.columns);
        return is_right(y[i], (x(i) - row.mean) * row.scale * g + b, g, b);
    }
};

int benchmark() {
    constexpr int rows = 16384, columns = 4096;
    constexpr float epsilon = 1e-5f;
    constexpr std::size_t size = std::size_t{rows} * columns;
    Floats x(size), y(size), kept(size), gamma(columns), beta(columns);
    podium::Buffer<Moments> moments(rows);
    podium::CacheFlush flush;
    MakeX make_x{0, columns};
    podium::Uniform make_gamma{0, -2.0f, 2.0f}, make_beta{0, -2.0f, 2.0f};
    podium::benchmark(
        [&](std::uint64_t seed) {
            make_x.seed = seed;
            make_gamma.seed = podium::mix(seed);
            make_beta.seed = podium::mix(seed + 1);
            podium::fill(x.data(), x.size(), make_x);
            podium::fill(gamma.data(), gamma.size(), make_gamma);
            podium::fill(beta.data(), beta.size(), make_beta);
            y.poison();
            kept.poison();
            flush();
        },
        [&] { layernorm(x.data(), gamma.data(), beta.data(), y.data(), rows, columns, epsilon); },
        [&] { kept.copy_from(y); },
        [&] {
            find_moments<<<rows, podium::block_threads>>>(moments.data(), make_x, epsilon);
            podium::finish("the harness's reference");
            podium::expect_all(size, RightElement{kept.data(), moments.data(), make_x, make_gamma, make_beta},
                               "the benchmark's y");
            y.expect_guards("y");
        });
    return 0;
}

}  // namespace

int main(int argc, char** argv) { return podium::wants_benchmark(argc, argv) ? benchmark() : test(); }
