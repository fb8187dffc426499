// Tests and times segmented_sum. `./test.out` tests odd segments; `./test.out --perf` sums 2^27 values in 2^20 of them.
#include <limits>

#include "podium_bench.cuh"

// Repeated from the context on purpose: the harness includes nothing that a solution may replace.
void segmented_sum(const float* values, int count, const int* offsets, int segments, float* sums);

namespace {

constexpr double tolerance = 2e-5;  // Of the sum of absolute values.

struct Case {
    std::vector<float> values;
    std::vector<int> offsets{0};

    void add(const std::vector<float>& segment) {
        values.insert(values.end(), segment.begin(), segment.end());
        offsets.push_back(static_cast<int>(values.size()));
    }
};

void expect_sum(const Case& given, int segment, float got) {
    double sum = 0, size = 0;
    for (int i = given.offsets[segment]; i < given.offsets[segment + 1]; ++i) {
        sum += given.values[i];
        size += std::fabs(static_cast<double>(given.values[i]));
    }
    if (!podium::is_close(got, sum, 0, tolerance * size)) {
        podium::fail("segment %d of %zu, values %d to %d: the sum is %.9g, not %.9g", segment, given.offsets.size() - 1,
                     given.offsets[segment], given.offsets[segment + 1], got, sum);
    }
}

// `skew` elements shift the values' start, which is then aligned to four bytes only.
void expect_sums(const Case& given, std::size_t skew = 0) {
    const int segments = static_cast<int>(given.offsets.size()) - 1;
    podium::Buffer<float> values(given.values, skew), sums(segments);
    podium::Buffer<int> offsets(given.offsets);
    segmented_sum(values.data(), static_cast<int>(given.values.size()), offsets.data(), segments, sums.data());
    podium::finish("the call");
    values.expect_unchanged(given.values, "values");
    offsets.expect_unchanged(given.offsets, "offsets");
    sums.expect_guards("sums");
    const auto got = sums.download();
    for (int segment = 0; segment < segments; ++segment) expect_sum(given, segment, got[segment]);
}

Case random_case(podium::Random& random, int segments, int shortest, int longest) {
    Case made;
    for (int i = 0; i < segments; ++i) made.add(random.floats(random.between(shortest, longest), -1.0f, 1.0f));
    return made;
}

void test_sizes(podium::Random& random) {
    expect_sums(Case{});
    const int shapes[][3] = {{1, 0, 0},    {1, 1, 1},      {1, 1000, 1000}, {2, 0, 1},      {31, 3, 3},
                             {33, 0, 9},   {257, 0, 64},   {1000, 1, 1},    {1000, 31, 33}, {5000, 0, 3},
                             {77, 0, 900}, {70001, 0, 20}, {9, 4000, 9000}, {513, 127, 129}};
    for (const auto& [segments, shortest, longest] : shapes) {
        for (std::size_t skew = 0; skew < 4; ++skew) {
            expect_sums(random_case(random, segments, shortest, longest), skew);
        }
    }
}

// Giants among dwarfs, and runs of empty segments at the start, in the middle and at the end.
void test_uneven_segments(podium::Random& random) {
    Case made = random_case(random, 300, 0, 0);
    made.add(random.floats(1000003, -1.0f, 1.0f));
    for (int round = 0; round < 5; ++round) {
        for (int i = 0; i < 1000; ++i) made.add(random.floats(random.between(0, 4), -1.0f, 1.0f));
        for (int i = 0; i < 5000; ++i) made.add({});
        made.add(random.floats(random.between(10000, 60000), 0.0f, 1.0f));
    }
    for (int i = 0; i < 9000; ++i) made.add({});
    expect_sums(made);
}

// Every length from 0 to 300, so that every remainder of an unrolled loop occurs at every alignment.
void test_all_lengths(podium::Random& random) {
    Case made;
    for (int length = 0; length <= 300; ++length) made.add(random.floats(length, -1.0f, 1.0f));
    expect_sums(made);
}

// What is huge in one segment must not be felt in the next.
void test_values_stay_in_their_segments(podium::Random& random) {
    Case made = random_case(random, 2000, 0, 100);
    for (std::size_t segment = 1; segment < 2000; segment += 7) {
        if (made.offsets[segment] == made.offsets[segment + 1]) continue;
        const float huge = segment % 3 == 0 ? 1e30f : std::numeric_limits<float>::infinity();
        made.values[made.offsets[segment]] = segment % 2 == 0 ? huge : -huge;
    }
    expect_sums(made);
}

int test() {
    podium::Random random(podium::fresh_seed());
    test_sizes(random);
    test_uneven_segments(random);
    test_all_lengths(random);
    test_values_stay_in_their_segments(random);
    return 0;
}

// 1,024 segments share 131,072 values: evenly in some groups, very unevenly in others.
struct Offset {
    static constexpr int segments_per_group = 1024;
    static constexpr int values_per_group = 131072;
    std::uint64_t seed;
    int count;
    int segments;

    __device__ int operator()(std::size_t i) const {
        if (i >= static_cast<std::size_t>(segments)) return count;
        const std::size_t group = i / segments_per_group;
        const std::size_t place = i % segments_per_group;
        const int base = static_cast<int>(group) * values_per_group;
        if (place == 0) return base;
        // Whole numbers over 2^26 and their squares: no rounding that two kernels could do in two ways.
        double share = static_cast<double>(place << 16 | podium::random_bits(seed, i) % 65536) * 0x1p-26;
        const int squarings[] = {0, 1, 3, 6};
        for (int k = squarings[podium::random_bits(~seed, group) % 4]; k > 0; --k) share *= share;
        return base + static_cast<int>(share * values_per_group);
    }
};

// From the seed alone, so that nothing the solution wrote to its inputs matters.
struct RightSum {
    const float* sums;
    podium::Uniform value;
    Offset offset;

    __device__ bool operator()(std::size_t segment) const {
        const int end = offset(segment + 1);
        double sum = 0, size = 0;
        for (int i = offset(segment); i < end; ++i) {
            const double term = value(i);
            sum += term;
            size += fabs(term);
        }
        return podium::is_close(sums[segment], sum, 0, tolerance * size);
    }
};

int benchmark() {
    constexpr int segments = 1 << 20, count = 1 << 27;
    podium::Buffer<float> values(count), sums(segments), kept(segments);
    podium::Buffer<int> offsets(segments + 1);
    podium::CacheFlush flush;
    podium::Uniform value{0, -1.0f, 1.0f};
    Offset offset{0, count, segments};
    podium::benchmark(
        [&](std::uint64_t seed) {
            value.seed = seed;
            offset.seed = podium::mix(seed);
            podium::fill(values.data(), values.size(), value);
            podium::fill(offsets.data(), offsets.size(), offset);
            sums.poison();
            kept.poison();
            flush();
        },
        [&] { segmented_sum(values.data(), count, offsets.data(), segments, sums.data()); },
        [&] { kept.copy_from(sums); },
        [&] {
            podium::expect_all(segments, RightSum{kept.data(), value, offset}, "the benchmark's sums");
            sums.expect_guards("sums");
        });
    return 0;
}

}  // namespace

int main(int argc, char** argv) { return podium::wants_benchmark(argc, argv) ? benchmark() : test(); }
