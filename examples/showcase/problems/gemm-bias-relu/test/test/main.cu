// Tests and times gemm_bias_relu.
#include <cuda_fp16.h>
#include <mma.h>

#include "podium_bench.cuh"

// Repeated from the context on purpose: the harness includes nothing that a solution may replace.
void gemm_bias_relu(const __half* a, const __half* b, const __half* bias, __half* c, int m, int n, int k);

namespace {

using podium::Buffer;

constexpr double relative = 2e-3;
constexpr double absolute = 0.02;

struct Shape {
    int m, n, k;
};

// ---- Tests ---------------------------------------------------------------------------------------------------------

enum class Values { whole, real, mostly_negative, one_outlier };

std::vector<__half> values_for(podium::Random& random, std::size_t size, Values kind, float reach) {
    std::vector<__half> values(size);
    for (__half& value : values) {
        value = __float2half(kind == Values::whole ? static_cast<float>(random.between(-2, 2))
                                                   : random.uniform(-reach, reach));
    }
    if (kind == Values::one_outlier) values[random.below(size)] = __float2half(64.0f);
    return values;
}

std::vector<double> as_doubles(const std::vector<__half>& halves) {
    std::vector<double> values(halves.size());
    for (std::size_t i = 0; i < halves.size(); ++i) values[i] = __half2float(halves[i]);
    return values;
}

std::vector<double> reference(const std::vector<__half>& a, const std::vector<__half>& b,
                              const std::vector<__half>& bias, Shape shape) {
    const auto [m, n, k] = shape;
    const auto left = as_doubles(a), right = as_doubles(b), start = as_doubles(bias);
    std::vector<double> c(std::size_t(m) * n);
    for (int i = 0; i < m; ++i) {
        double* row = &c[std::size_t(i) * n];
        for (int j = 0; j < n; ++j) row[j] = start[j];
        for (int p = 0; p < k; ++p) {
            const double scale = left[std::size_t(i) * k + p];
            for (int j = 0; j < n; ++j) row[j] += scale * right[std::size_t(p) * n + j];
        }
        for (int j = 0; j < n; ++j) row[j] = row[j] > 0 ? row[j] : 0;
    }
    return c;
}

// Sums of small whole numbers fit a half exactly, so there is nothing to be off by.
void test_shape(podium::Random& random, Shape shape, Values kind) {
    const auto [m, n, k] = shape;
    const auto a = values_for(random, std::size_t(m) * k, kind, 1.0f);
    const auto b = values_for(random, std::size_t(k) * n, kind, 1.0f);
    auto bias = values_for(random, n, kind, 8.0f);
    if (kind == Values::mostly_negative) {
        for (int j = 0; j < n; j += 2) bias[j] = __float2half(-500.0f);
    }
    const Buffer<__half> a_device(a), b_device(b), bias_device(bias), c_device(std::size_t(m) * n);
    gemm_bias_relu(a_device.data(), b_device.data(), bias_device.data(), c_device.data(), m, n, k);
    podium::finish("gemm_bias_relu");
    const auto got = as_doubles(c_device.download()), wanted = reference(a, b, bias, shape);
    const bool whole = kind == Values::whole;
    for (std::size_t i = 0; i < got.size(); ++i) {
        if (!podium::is_close(got[i], wanted[i], whole ? 0 : relative, whole ? 0 : absolute)) {
            podium::fail("C[%zu][%zu] is %g, not %g, for m=%d n=%d k=%d", i / n, i % n, got[i], wanted[i], m, n, k);
        }
    }
    c_device.expect_guards("C");
    a_device.expect_unchanged(a, "A");
    b_device.expect_unchanged(b, "B");
    bias_device.expect_unchanged(bias, "bias");
}

void tests() {
    podium::Random random(podium::fresh_seed());
    const Shape shapes[] = {{1, 1, 1},     {1, 8, 8},    {3, 5, 7},     {16, 16, 16},    {1, 300, 40},  {300, 1, 40},
                            {17, 33, 65},  {31, 64, 2},  {64, 256, 96}, {127, 129, 63},  {128, 128, 64}, {129, 127, 66},
                            {256, 64, 1},  {2, 2, 499},  {130, 72, 33}, {128, 256, 160}, {96, 200, 104}, {256, 128, 256}};
    for (const Shape& shape : shapes) {
        test_shape(random, shape, Values::whole);
        test_shape(random, shape, Values::real);
    }
    for (int round = 0; round < 12; ++round) {
        const Shape shape{random.between(1, 200), random.between(1, 200), random.between(1, 300)};
        test_shape(random, shape, round % 2 ? Values::whole : Values::one_outlier);
    }
    test_shape(random, {128, 128, 128}, Values::mostly_negative);
    test_shape(random, {65, 63, 64}, Values::mostly_negative);
    // Long sums: too much for a half to add up.
    test_shape(random, {64, 64, 4096}, Values::real);
    test_shape(random, {33, 40, 4099}, Values::real);
}

// ---- Benchmark -----------------------------------------------------------------------------------------------------

constexpr int size_m = 4096, size_n = 4096, size_k = 2048;
constexpr int tile = 128, tile_k = 32, warp_m = 64, warp_n = 32;

struct UniformHalf {
    podium::Uniform uniform;
    __device__ __half operator()(std::size_t i) const { return __float2half(uniform(i)); }
};

void fill_halves(Buffer<__half>& buffer, std::uint64_t seed, float reach) {
    podium::fill(buffer.data(), buffer.size(), UniformHalf{{seed, -reach, reach}});
}

// The harness's own product, sums in single precision: a block of eight warps makes a 128 x 128 tile.
__global__ void product_kernel(const __half* a, const __half* b, float* product) {
    using namespace nvcuda::wmma;
    __shared__ __align__(32) __half a_tile[tile][tile_k + 8];
    __shared__ __align__(32) __half b_tile[tile_k][tile + 8];
    const int row = blockIdx.y * tile, column = blockIdx.x * tile;
    const int warp = threadIdx.x / 32;
    const int warp_row = warp / 4 * warp_m, warp_column = warp % 4 * warp_n;
    fragment<accumulator, 16, 16, 16, float> sums[4][2];
    for (auto& line : sums) {
        for (auto& sum : line) fill_fragment(sum, 0.0f);
    }
    for (int start = 0; start < size_k; start += tile_k) {
        __syncthreads();
        for (int i = threadIdx.x; i < tile * tile_k; i += blockDim.x) {
            a_tile[i / tile_k][i % tile_k] = a[std::size_t(row + i / tile_k) * size_k + start + i % tile_k];
            b_tile[i / tile][i % tile] = b[std::size_t(start + i / tile) * size_n + column + i % tile];
        }
        __syncthreads();
        for (int p = 0; p < tile_k; p += 16) {
            for (int y = 0; y < 4; ++y) {
                fragment<matrix_a, 16, 16, 16, __half, row_major> left;
                load_matrix_sync(left, &a_tile[warp_row + y * 16][p], tile_k + 8);
                for (int x = 0; x < 2; ++x) {
                    fragment<matrix_b, 16, 16, 16, __half, row_major> right;
                    load_matrix_sync(right, &b_tile[p][warp_column + x * 16], tile + 8);
                    mma_sync(sums[y][x], left, right, sums[y][x]);
                }
            }
        }
    }
    for (int y = 0; y < 4; ++y) {
        for (int x = 0; x < 2; ++x) {
            float* corner =
                product + std::size_t(row + warp_row + y * 16) * size_n + column + warp_column + x * 16;
            store_matrix_sync(corner, sums[y][x], size_n, mem_row_major);
        }
    }
}

struct RightElement {
    const __half* c;
    const float* product;
    const __half* bias;
    __device__ bool operator()(std::size_t i) const {
        const float sum = product[i] + __half2float(bias[i % size_n]);
        return podium::is_close(__half2float(c[i]), sum > 0 ? sum : 0, relative, absolute);
    }
};

struct Inputs {
    Buffer<__half> a{std::size_t{size_m} * size_k}, b{std::size_t{size_k} * size_n}, bias{size_n};
    void make(std::uint64_t seed) {
        fill_halves(a, podium::mix(seed + 1), 1.0f);
        fill_halves(b, podium::mix(seed + 2), 1.0f);
        fill_halves(bias, podium::mix(seed + 3), 8.0f);
    }
};

void benchmark() {
    Inputs inputs, again;
    Buffer<__half> c(std::size_t{size_m} * size_n), kept(c.size());
    Buffer<float> product(c.size());
    podium::CacheFlush flush;
    std::uint64_t seed = 0;
    podium::benchmark(
        [&](std::uint64_t fresh) {
            seed = fresh;
            inputs.make(seed);
            c.poison();
            flush();
        },
        [&] {
            gemm_bias_relu(inputs.a.data(), inputs.b.data(), inputs.bias.data(), c.data(), size_m, size_n, size_k);
        },
        [&] { kept.copy_from(c); },
        [&] {
            again.make(seed);
            podium::expect_equal(inputs.a, again.a, "A after the call");
            podium::expect_equal(inputs.b, again.b, "B after the call");
            podium::expect_equal(inputs.bias, again.bias, "bias after the call");
            product_kernel<<<dim3(size_n / tile, size_m / tile), 256>>>(again.a.data(), again.b.data(),
                                                                         product.data());
            CUDA_CHECK(cudaGetLastError());
            podium::expect_all(c.size(), RightElement{kept.data(), product.data(), again.bias.data()}, "C");
        });
    c.expect_guards("C");
}

}  // namespace

int main(int argc, char** argv) {
    podium::wants_benchmark(argc, argv) ? benchmark() : tests();
    return 0;
}
