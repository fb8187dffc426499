// Tests and times histogram. `./test.out` tests odd sizes and contents; `./test.out --perf` counts 2^28 bytes.
#include <functional>

#include "podium_bench.cuh"

// Repeated from the context on purpose: the harness includes nothing that a solution may replace.
void histogram(const std::uint8_t* data, std::size_t size, std::uint32_t* counts);

namespace {

using Byte = std::uint8_t;

// `skew` elements shift the data's start.
void expect_counts(const std::vector<Byte>& bytes, const char* kind, std::size_t skew = 0) {
    podium::Buffer<Byte> data(bytes, skew);
    podium::Buffer<std::uint32_t> counts(256);
    histogram(data.data(), bytes.size(), counts.data());
    podium::finish("the call");
    data.expect_unchanged(bytes, "data");
    counts.expect_guards("counts");
    std::vector<std::uint32_t> expected(256);
    for (const Byte byte : bytes) ++expected[byte];
    const auto got = counts.download();
    for (int value = 0; value < 256; ++value) {
        if (got[value] != expected[value]) {
            podium::fail("%zu %s bytes, start shifted by %zu: %d occurs %u times, not %u", bytes.size(), kind, skew,
                         value, expected[value], got[value]);
        }
    }
}

std::vector<Byte> bytes_by(std::size_t size, const std::function<int(std::size_t)>& make) {
    std::vector<Byte> bytes(size);
    for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<Byte>(make(i));
    return bytes;
}

std::vector<Byte> random_bytes(podium::Random& random, std::size_t size) {
    return bytes_by(size, [&](std::size_t) { return random.between(0, 255); });
}

void test_sizes(podium::Random& random) {
    for (const std::size_t size : {0, 1, 2, 3, 7, 15, 16, 17, 31, 33, 255, 256, 257, 1000, 4095, 4097, 65537, 300007}) {
        for (std::size_t skew = 0; skew < 17; skew += size < 5000 ? 1 : 5) {
            expect_counts(random_bytes(random, size), "random", skew);
        }
    }
    for (int round = 0; round < 10; ++round) {
        const int size = random.between(1, 100000);
        expect_counts(random_bytes(random, static_cast<std::size_t>(size)), "random", random.between(0, 15));
    }
}

// One value for all, values that share a counter's bank or word, long runs, one stranger in a crowd.
void test_contents(podium::Random& random) {
    constexpr std::size_t size = 3000017;
    for (const int value : {0, 1, 128, 255}) {
        expect_counts(bytes_by(size, [&](std::size_t) { return value; }), "equal");
    }
    expect_counts(bytes_by(size, [](std::size_t i) { return static_cast<int>(i); }), "counting");
    expect_counts(bytes_by(size, [](std::size_t i) { return static_cast<int>(i % 8) * 32; }), "bank-sharing");
    expect_counts(bytes_by(size, [](std::size_t i) { return static_cast<int>(i % 4); }), "neighbouring");
    expect_counts(bytes_by(size, [](std::size_t i) { return static_cast<int>(i / 70000); }), "long-run");
    auto crowd = bytes_by(size, [](std::size_t) { return 77; });
    crowd[random.below(size)] = 78;
    crowd.back() = 79;
    expect_counts(crowd, "nearly equal");
}

// More of one value than sixteen bits count, in every block of any grid; made on the device for its size.
void test_many_of_one_value() {
    constexpr std::size_t size = (std::size_t{1} << 28) + 3;
    podium::Buffer<Byte> data(size);
    podium::Buffer<std::uint32_t> counts(256);
    CUDA_CHECK(cudaMemset(data.data(), 200, size));
    histogram(data.data(), size, counts.data());
    podium::finish("the call");
    const auto got = counts.download();
    for (int value = 0; value < 256; ++value) {
        const auto expected = value == 200 ? static_cast<std::uint32_t>(size) : 0u;
        if (got[value] != expected) {
            podium::fail("many of one value: %d occurs %u times, not %u", value, expected, got[value]);
        }
    }
}

int test() {
    podium::Random random(podium::fresh_seed());
    test_sizes(random);
    test_contents(random);
    test_many_of_one_value();
    return 0;
}

struct SixteenBytes {
    std::uint32_t words[4];
};

// A quarter are runs of one of four values; of the rest half have few bits set, half are random.
struct MakeBytes {
    std::uint64_t seed;
    __device__ SixteenBytes operator()(std::size_t i) const {
        const std::uint64_t low = podium::random_bits(seed, 2 * i);
        const std::uint64_t high = podium::random_bits(seed, 2 * i + 1);
        SixteenBytes made{{static_cast<std::uint32_t>(low), static_cast<std::uint32_t>(low >> 32),
                           static_cast<std::uint32_t>(high), static_cast<std::uint32_t>(high >> 32)}};
        const std::uint32_t kind = made.words[0] >> 30;
        const std::uint32_t run = (made.words[1] & 3u) * 0x55555555u;
        for (std::uint32_t& word : made.words) {
            if (kind == 0) word = run;
            if (kind == 1) word &= word >> 3;
        }
        return made;
    }
};

// Counts what the seed makes, so that nothing the solution wrote to `data` matters.
__global__ void expected_counts(unsigned long long* counts, std::size_t chunks, MakeBytes make) {
    __shared__ unsigned int found[256];
    found[threadIdx.x] = 0;
    __syncthreads();
    const std::size_t step = std::size_t{gridDim.x} * blockDim.x;
    for (std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x; i < chunks; i += step) {
        const SixteenBytes made = make(i);
        for (const std::uint32_t word : made.words) {
            for (int shift = 0; shift < 32; shift += 8) atomicAdd(&found[word >> shift & 0xff], 1u);
        }
    }
    __syncthreads();
    atomicAdd(&counts[threadIdx.x], static_cast<unsigned long long>(found[threadIdx.x]));
}

void verify(const podium::Buffer<std::uint32_t>& kept, podium::Buffer<unsigned long long>& expected, std::size_t size,
            MakeBytes make) {
    static_assert(podium::block_threads == 256, "one thread per value");
    CUDA_CHECK(cudaMemset(expected.data(), 0, expected.bytes()));
    expected_counts<<<1024, podium::block_threads>>>(expected.data(), size / sizeof(SixteenBytes), make);
    podium::finish("the harness's reference");
    const auto right = expected.download();
    const auto got = kept.download();
    for (int value = 0; value < 256; ++value) {
        if (got[value] != right[value]) {
            podium::fail("the benchmark's data: %d occurs %llu times, not %u", value, right[value], got[value]);
        }
    }
}

int benchmark() {
    constexpr std::size_t size = std::size_t{1} << 28;
    podium::Buffer<Byte> data(size);
    podium::Buffer<std::uint32_t> counts(256), kept(256);
    podium::Buffer<unsigned long long> expected(256);
    podium::CacheFlush flush;
    MakeBytes make{};
    podium::benchmark(
        [&](std::uint64_t seed) {
            make.seed = seed;
            podium::fill(reinterpret_cast<SixteenBytes*>(data.data()), size / sizeof(SixteenBytes), make);
            counts.poison();
            kept.poison();
            flush();
        },
        [&] { histogram(data.data(), size, counts.data()); }, [&] { kept.copy_from(counts); },
        [&] {
            verify(kept, expected, size, make);
            counts.expect_guards("counts");
        });
    return 0;
}

}  // namespace

int main(int argc, char** argv) { return podium::wants_benchmark(argc, argv) ? benchmark() : test(); }
