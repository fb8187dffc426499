// Tests transpose; with --perf calls it twenty times in the range "bench_region", checking every element of every call.
#include "podium_bench.cuh"

// Repeated from the context on purpose: the harness includes nothing that a solution may replace.
void transpose(const std::uint32_t* in, std::uint32_t* out, std::size_t rows, std::size_t columns);

namespace {

struct Shape {
    std::size_t rows;
    std::size_t columns;
};

void test_shape(podium::Random& random, Shape shape) {
    std::vector<std::uint32_t> in(shape.rows * shape.columns);
    for (std::uint32_t& word : in) word = static_cast<std::uint32_t>(random.next());
    podium::Buffer<std::uint32_t> device_in(in), out(in.size());
    transpose(device_in.data(), out.data(), shape.rows, shape.columns);
    podium::finish("transpose");
    const std::vector<std::uint32_t> got = out.download();
    for (std::size_t i = 0; i < got.size(); ++i) {
        const std::size_t row = i % shape.rows;
        const std::size_t column = i / shape.rows;
        const std::uint32_t expected = in[row * shape.columns + column];
        if (got[i] != expected) {
            podium::fail("%zu x %zu: out[%zu][%zu] is %08x, not %08x", shape.rows, shape.columns, column, row, got[i],
                         expected);
        }
    }
    out.expect_guards("out");
    device_in.expect_unchanged(in, "in");
}

void tests() {
    podium::Random random(podium::fresh_seed());
    const Shape shapes[] = {{0, 0},     {0, 3},     {3, 0},     {1, 1},       {1, 1000},     {1000, 1},     {2, 2},
                            {31, 33},   {32, 32},   {33, 31},   {64, 64},     {64, 128},     {63, 65},      {127, 129},
                            {256, 300}, {300, 256}, {1024, 64}, {1021, 1031}, {3, 1u << 18}, {1u << 18, 3}, {2048, 1024},
                            {4, 8},     {8, 4},     {100, 36},  {2100000, 1}};
    for (const Shape shape : shapes) test_shape(random, shape);
    for (int i = 0; i < 20; ++i) test_shape(random, {1 + random.below(400), 1 + random.below(400)});
}

constexpr Shape timed_shape{8192, 8192};
constexpr std::size_t timed_size = timed_shape.rows * timed_shape.columns;

struct Words {
    std::uint64_t seed;
    __device__ std::uint32_t operator()(std::size_t i) const {
        return static_cast<std::uint32_t>(podium::random_bits(seed, i));
    }
};

struct RightOutput {
    Words words;
    const std::uint32_t* got;
    __device__ bool operator()(std::size_t i) const {
        return got[i] == words(i % timed_shape.rows * timed_shape.columns + i / timed_shape.rows);
    }
};

void benchmark() {
    podium::Buffer<std::uint32_t> in(timed_size), out(timed_size), kept(timed_size);
    podium::CacheFlush flush;
    Words words{0};
    podium::benchmark(
        [&](std::uint64_t seed) {
            words = Words{seed};
            podium::fill(in.data(), in.size(), words);
            out.poison();
            flush();
        },
        [&] { transpose(in.data(), out.data(), timed_shape.rows, timed_shape.columns); },
        [&] { kept.copy_from(out); },
        [&] { podium::expect_all(timed_size, RightOutput{words, kept.data()}, "out"); });
    out.expect_guards("out");
}

}  // namespace

int main(int argc, char** argv) {
    podium::wants_benchmark(argc, argv) ? benchmark() : tests();
    return 0;
}
