// Tests and times sort_pairs. `./test.out` sorts keys of many kinds; `./test.out --perf` sorts 2^23 pairs.
#include <algorithm>
#include <functional>
#include <numeric>

#include "podium_bench.cuh"

// Repeated from the context on purpose: the harness includes nothing that a solution may replace.
void sort_pairs(const std::uint32_t* keys_in, const std::uint32_t* values_in, std::uint32_t* keys_out,
                std::uint32_t* values_out, int count);

namespace {

using Word = std::uint32_t;
using Words = podium::Buffer<Word>;

std::vector<Word> random_words(podium::Random& random, std::size_t count) {
    std::vector<Word> words(count);
    for (Word& word : words) word = static_cast<Word>(random.next() >> 32);
    return words;
}

void expect_sorted(const std::vector<Word>& keys, const std::vector<Word>& values, const char* kind) {
    const int count = static_cast<int>(keys.size());
    Words keys_in(keys), values_in(values), keys_out(count), values_out(count);
    sort_pairs(keys_in.data(), values_in.data(), keys_out.data(), values_out.data(), count);
    podium::finish("the call");
    keys_in.expect_unchanged(keys, "keys_in");
    values_in.expect_unchanged(values, "values_in");
    keys_out.expect_guards("keys_out");
    values_out.expect_guards("values_out");
    std::vector<int> order(count);
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int left, int right) { return keys[left] < keys[right]; });
    const auto got_keys = keys_out.download();
    const auto got_values = values_out.download();
    for (int i = 0; i < count; ++i) {
        if (got_keys[i] != keys[order[i]] || got_values[i] != values[order[i]]) {
            podium::fail("%d %s keys: pair %d is (%u, %u), not (%u, %u)", count, kind, i, got_keys[i], got_values[i],
                         keys[order[i]], values[order[i]]);
        }
    }
}

std::vector<Word> changed(std::vector<Word> words, const std::function<Word(Word)>& change) {
    std::transform(words.begin(), words.end(), words.begin(), change);
    return words;
}

void test_kinds_of_keys(podium::Random& random, std::size_t count) {
    const auto keys = random_words(random, count);
    const auto values = random_words(random, count);
    expect_sorted(keys, values, "random");
    expect_sorted(changed(keys, [](Word key) { return key % 3; }), values, "few different");
    expect_sorted(changed(keys, [](Word key) { return key & 0xff000000u; }), values, "high-byte");
    expect_sorted(changed(keys, [](Word key) { return key % 5 == 0 ? 0xffffffffu : key % 7 == 0 ? 0u : key; }), values,
                  "extreme");
    expect_sorted(std::vector<Word>(count, 0x80000000u), values, "equal");
    auto ordered = keys;
    std::sort(ordered.begin(), ordered.end());
    expect_sorted(ordered, values, "sorted");
    std::reverse(ordered.begin(), ordered.end());
    expect_sorted(ordered, values, "reversed");
}

int test() {
    podium::Random random(podium::fresh_seed());
    for (const int count : {0, 1, 2, 3, 31, 32, 33, 255, 256, 257, 1000, 1024, 4095, 4096, 4097, 65537, 200003}) {
        test_kinds_of_keys(random, static_cast<std::size_t>(count));
    }
    for (int round = 0; round < 5; ++round) {
        test_kinds_of_keys(random, static_cast<std::size_t>(random.between(1, 20000)));
    }
    expect_sorted(random_words(random, 1500007), random_words(random, 1500007), "random");
    return 0;
}

// One key in sixteen is one of 256 values, so that many are equal.
struct Key {
    std::uint64_t seed;
    __host__ __device__ Word operator()(std::size_t i) const {
        const std::uint64_t bits = podium::random_bits(seed, i);
        return static_cast<Word>(bits >> 32) & (bits % 16 == 0 ? 0xff000000u : 0xffffffffu);
    }
};

// A value gives away the place of its pair: i -> i * factor + shift has an inverse, as `factor` is odd.
struct Value {
    Word factor;
    Word shift;
    __host__ __device__ Word operator()(std::size_t i) const { return static_cast<Word>(i) * factor + shift; }
};

Word inverse(Word odd) {
    Word found = odd;
    for (int step = 0; step < 5; ++step) found *= 2 - odd * found;
    return found;
}

// Strictly ascending pairs of (key, place) are a stable order; as many of them as there are places are all of them.
struct RightPair {
    const Word* keys;
    const Word* values;
    std::size_t count;
    Key key;
    Word shift;
    Word inverse_factor;

    __device__ Word place(std::size_t i) const { return (values[i] - shift) * inverse_factor; }

    __device__ bool operator()(std::size_t i) const {
        const Word at = place(i);
        if (at >= count || keys[i] != key(at)) return false;
        return i == 0 || keys[i - 1] < keys[i] || (keys[i - 1] == keys[i] && place(i - 1) < at);
    }
};

int benchmark() {
    constexpr int count = 1 << 23;
    Words keys_in(count), values_in(count), keys_out(count), values_out(count), kept_keys(count), kept_values(count);
    podium::CacheFlush flush;
    Key key{};
    Value value{};
    podium::benchmark(
        [&](std::uint64_t seed) {
            key.seed = seed;
            value.factor = static_cast<Word>(podium::random_bits(~seed, 0)) | 1u;
            value.shift = static_cast<Word>(podium::random_bits(~seed, 1));
            podium::fill(keys_in.data(), keys_in.size(), key);
            podium::fill(values_in.data(), values_in.size(), value);
            for (Words* words : {&keys_out, &values_out, &kept_keys, &kept_values}) words->poison();
            flush();
        },
        [&] { sort_pairs(keys_in.data(), values_in.data(), keys_out.data(), values_out.data(), count); },
        [&] {
            kept_keys.copy_from(keys_out);
            kept_values.copy_from(values_out);
        },
        [&] {
            const Word inverse_factor = inverse(value.factor);
            podium::expect_all(
                count, RightPair{kept_keys.data(), kept_values.data(), count, key, value.shift, inverse_factor},
                "the benchmark's pairs");
            keys_out.expect_guards("keys_out");
            values_out.expect_guards("values_out");
        });
    return 0;
}

}  // namespace

int main(int argc, char** argv) { return podium::wants_benchmark(argc, argv) ? benchmark() : test(); }
