// Tests and times compact. `./test.out` tests odd sizes and values; `./test.out --perf` compacts 2^27 values.
#include <limits>

#include "podium_bench.cuh"

// Repeated from the context on purpose: the harness includes nothing that a solution may replace.
void compact(const float* values, int count, float threshold, float* kept, int* kept_count);

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float nan_value = std::numeric_limits<float>::quiet_NaN();

__host__ __device__ bool same_bits(float left, float right) {
    std::uint32_t left_bits = 0, right_bits = 0;
    memcpy(&left_bits, &left, sizeof left);
    memcpy(&right_bits, &right, sizeof right);
    return left_bits == right_bits;
}

// `skew` elements shift the arrays' starts, which are then aligned to four bytes only.
void expect_compacted(const std::vector<float>& given, float threshold, std::size_t skew = 0) {
    const int count = static_cast<int>(given.size());
    podium::Buffer<float> values(given, skew), kept(given.size(), skew);
    podium::Buffer<int> kept_count(1);
    compact(values.data(), count, threshold, kept.data(), kept_count.data());
    podium::finish("the call");
    values.expect_unchanged(given, "values");
    kept.expect_guards("kept");
    kept_count.expect_guards("kept_count");
    std::vector<float> expected;
    for (const float value : given) {
        if (value > threshold) expected.push_back(value);
    }
    const int got_count = kept_count.download()[0];
    if (got_count != static_cast<int>(expected.size())) {
        podium::fail("%d values, threshold %g: %d are kept, not %zu", count, threshold, got_count, expected.size());
    }
    const auto got = kept.download();
    for (std::size_t i = 0; i < expected.size(); ++i) {
        if (!same_bits(got[i], expected[i])) {
            podium::fail("%d values: number %zu of those kept is %.9g, not %.9g", count, i, got[i], expected[i]);
        }
    }
    const std::vector<unsigned char> poison((given.size() - expected.size()) * sizeof(float), 0xff);
    if (!poison.empty() && std::memcmp(got.data() + expected.size(), poison.data(), poison.size()) != 0) {
        podium::fail("%d values: something wrote behind the %zu that are kept", count, expected.size());
    }
}

// Few different values, so that some equal the threshold, with infinities, zeros of both signs and NaN between them.
std::vector<float> odd_values(podium::Random& random, std::size_t count) {
    const float special[] = {infinity, -infinity, nan_value, 0.0f, -0.0f, 1e-42f, -1e-42f};
    std::vector<float> values(count);
    for (float& value : values) {
        const int kind = random.between(0, 39);
        value = kind < 7 ? special[kind] : static_cast<float>(random.between(-8, 8)) / 8;
    }
    return values;
}

void test_sizes(podium::Random& random) {
    for (const int count : {0, 1, 2, 3, 31, 32, 33, 255, 256, 257, 1000, 2047, 4095, 4096, 4097, 8193, 100003}) {
        const auto size = static_cast<std::size_t>(count);
        for (std::size_t skew = 0; skew < 4; ++skew) {
            expect_compacted(random.floats(size, -1.0f, 1.0f), 0.0f, skew);
            expect_compacted(odd_values(random, size), 0.25f, skew);
        }
    }
    for (int round = 0; round < 20; ++round) {
        expect_compacted(odd_values(random, random.between(1, 50000)), static_cast<float>(random.between(-8, 8)) / 8);
    }
    expect_compacted(random.floats(5000011, -1.0f, 1.0f), 0.125f);
}

void test_thresholds(podium::Random& random) {
    for (const float threshold : {-infinity, -2.0f, -1.0f, -0.0f, 0.0f, 0.999f, 1.0f, 2.0f, infinity, nan_value}) {
        expect_compacted(odd_values(random, 30011), threshold);
        expect_compacted(random.floats(30011, -1.0f, 1.0f), threshold);
    }
}

// All that is kept in one place: at the start, at the end, alone in the middle.
void test_clusters() {
    std::vector<float> values(70001, -1.0f);
    values[35000] = 1.0f;
    expect_compacted(values, 0.0f);
    values.back() = 2.0f;
    values.front() = 3.0f;
    expect_compacted(values, 0.0f);
    for (std::size_t i = 0; i < 20000; ++i) values[i] = static_cast<float>(i + 1);
    expect_compacted(values, 0.0f);
}

int test() {
    podium::Random random(podium::fresh_seed());
    test_sizes(random);
    test_thresholds(random);
    test_clusters();
    return 0;
}

constexpr int tile_size = 1024;

// How many values of tile i are kept; from the seed alone, so that nothing the solution wrote to `values` matters.
struct KeptInTile {
    podium::Uniform value;
    float threshold;
    __device__ int operator()(std::size_t tile) const {
        int kept = 0;
        for (std::size_t i = tile * tile_size; i < (tile + 1) * tile_size; ++i) kept += value(i) > threshold ? 1 : 0;
        return kept;
    }
};

struct RightTile {
    const float* kept;
    const int* starts;
    podium::Uniform value;
    float threshold;
    __device__ bool operator()(std::size_t tile) const {
        int at = starts[tile];
        bool right = true;
        for (std::size_t i = tile * tile_size; i < (tile + 1) * tile_size; ++i) {
            const float expected = value(i);
            if (expected > threshold) right &= kept[at++] == expected;
        }
        return right;
    }
};

struct Untouched {
    const float* rest;
    __device__ bool operator()(std::size_t i) const { return __float_as_uint(rest[i]) == 0xffffffffu; }
};

// Turns counts into where each tile's first kept value belongs; returns the sum.
int make_starts(podium::Buffer<int>& counts) {
    auto starts = counts.download();
    int sum = 0;
    for (int& start : starts) {
        const int count = start;
        start = sum;
        sum += count;
    }
    counts.upload(starts);
    return sum;
}

void verify(const podium::Buffer<float>& kept, int kept_count, podium::Buffer<int>& tiles, podium::Uniform value,
            float threshold) {
    podium::fill(tiles.data(), tiles.size(), KeptInTile{value, threshold});
    const int expected = make_starts(tiles);
    if (kept_count != expected) podium::fail("the benchmark keeps %d values, not %d", kept_count, expected);
    podium::expect_all(tiles.size(), RightTile{kept.data(), tiles.data(), value, threshold}, "the benchmark's tiles");
    podium::expect_all(kept.size() - expected, Untouched{kept.data() + expected}, "what lies behind those kept");
}

int benchmark() {
    constexpr int count = 1 << 27;
    constexpr float threshold = 0.125f;
    podium::Buffer<float> values(count), kept(count), copy(count);
    podium::Buffer<int> kept_count(1), count_copy(1), tiles(count / tile_size);
    podium::CacheFlush flush;
    podium::Uniform value{0, -1.0f, 1.0f};
    podium::benchmark(
        [&](std::uint64_t seed) {
            value.seed = seed;
            podium::fill(values.data(), values.size(), value);
            kept.poison();
            copy.poison();
            kept_count.poison();
            flush();
        },
        [&] { compact(values.data(), count, threshold, kept.data(), kept_count.data()); },
        [&] {
            copy.copy_from(kept);
            count_copy.copy_from(kept_count);
        },
        [&] {
            verify(copy, count_copy.download()[0], tiles, value, threshold);
            kept.expect_guards("kept");
        });
    return 0;
}

}  // namespace

int main(int argc, char** argv) { return podium::wants_benchmark(argc, argv) ? benchmark() : test(); }
