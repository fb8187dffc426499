// Tests and times graph_chain. `./test.out` tests odd rings; `./test.out --perf` runs 64 steps on 65,536 cells.
#include "podium_bench.cuh"

// Repeated from the context on purpose: the harness includes nothing that a solution may replace.
void graph_chain(const std::uint32_t* start, std::uint32_t* ring, int size, int steps);

namespace {

using Words = podium::Buffer<std::uint32_t>;

__host__ __device__ std::uint32_t mixed_cell(const std::uint32_t* ring, int i, int size) {
    const std::uint32_t sum = ring[i] * 2654435761u + ring[(i + 1) % size];
    return ((sum << 13) | (sum >> 19)) ^ ring[(i + size - 1) % size];
}

std::vector<std::uint32_t> expected_ring(std::vector<std::uint32_t> ring, int steps) {
    const int size = static_cast<int>(ring.size());
    std::vector<std::uint32_t> mixed(ring.size());
    for (int step = 0; step < steps; ++step) {
        std::uint32_t total = 0;
        for (int i = 0; i < size; ++i) total += mixed[i] = mixed_cell(ring.data(), i, size);
        for (int i = 0; i < size; ++i) ring[i] = (mixed[i] + total) * 2246822519u + static_cast<std::uint32_t>(step);
    }
    return ring;
}

void expect_ring(Words& start, Words& ring, const std::vector<std::uint32_t>& cells, int steps) {
    const int size = static_cast<int>(cells.size());
    start.upload(cells);
    ring.poison();
    graph_chain(start.data(), ring.data(), size, steps);
    podium::finish("the call");
    start.expect_unchanged(cells, "start");
    ring.expect_guards("ring");
    const auto got = ring.download();
    const auto expected = expected_ring(cells, steps);
    for (int i = 0; i < size; ++i) {
        if (got[i] != expected[i]) {
            podium::fail("%d cells, %d steps: cell %d is %u, not %u", size, steps, i, got[i], expected[i]);
        }
    }
}

std::vector<std::uint32_t> random_cells(podium::Random& random, int size) {
    std::vector<std::uint32_t> cells(size);
    for (auto& cell : cells) cell = static_cast<std::uint32_t>(random.next());
    return cells;
}

void expect_random_ring(podium::Random& random, int size, int steps) {
    Words start(size), ring(size);
    expect_ring(start, ring, random_cells(random, size), steps);
}

void test_odd_sizes(podium::Random& random) {
    for (const int size : {0, 1, 2, 3, 5, 31, 32, 33, 255, 256, 257, 1000, 1023, 1025, 4097, 65535, 65537, 70001}) {
        for (const int steps : {0, 1, 2, 7}) expect_random_ring(random, size, steps);
    }
    for (int round = 0; round < 10; ++round) {
        expect_random_ring(random, random.between(1, 20000), random.between(1, 40));
    }
    expect_random_ring(random, 65536, 64);
    expect_random_ring(random, 600011, 3);
    expect_random_ring(random, 100, 500);
}

// The same memory again with other contents, steps and sizes: what a solution keeps between calls must not be answers.
void test_repeated_calls(podium::Random& random) {
    Words start(8192), ring(8192);
    for (const int steps : {5, 5, 9, 0, 5}) expect_ring(start, ring, random_cells(random, 8192), steps);
    Words other_start(8192), other_ring(8192);
    expect_ring(other_start, other_ring, random_cells(random, 8192), 5);
    expect_ring(start, other_ring, random_cells(random, 8192), 5);
    expect_ring(other_start, ring, random_cells(random, 8192), 5);
}

void test_uniform_rings() {
    for (const std::uint32_t value : {0u, 1u, 0xffffffffu}) {
        Words start(3000), ring(3000);
        expect_ring(start, ring, std::vector<std::uint32_t>(3000, value), 12);
    }
}

int test() {
    podium::Random random(podium::fresh_seed());
    test_odd_sizes(random);
    test_repeated_calls(random);
    test_uniform_rings();
    return 0;
}

__global__ void mix_kernel(const std::uint32_t* ring, std::uint32_t* mixed, std::uint32_t* total, int size) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= size) return;
    mixed[i] = mixed_cell(ring, i, size);
    atomicAdd(total, mixed[i]);
}

__global__ void fold_kernel(const std::uint32_t* mixed, const std::uint32_t* total, std::uint32_t* ring, int size,
                            std::uint32_t step) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < size) ring[i] = (mixed[i] + *total) * 2246822519u + step;
}

struct Word {
    std::uint64_t seed;
    __device__ std::uint32_t operator()(std::size_t i) const {
        return static_cast<std::uint32_t>(podium::random_bits(seed, i) >> 32);
    }
};

// From the seed alone, so that nothing the solution wrote to `start` matters.
void make_expected(Words& ring, Words& mixed, Words& total, std::uint64_t seed, int steps) {
    const int size = static_cast<int>(ring.size());
    podium::fill(ring.data(), ring.size(), Word{seed});
    for (int step = 0; step < steps; ++step) {
        CUDA_CHECK(cudaMemsetAsync(total.data(), 0, total.bytes()));
        mix_kernel<<<podium::blocks_for(size), podium::block_threads>>>(ring.data(), mixed.data(), total.data(), size);
        fold_kernel<<<podium::blocks_for(size), podium::block_threads>>>(mixed.data(), total.data(), ring.data(), size,
                                                                         static_cast<std::uint32_t>(step));
    }
    podium::finish("the harness's reference");
}

int benchmark() {
    constexpr int size = 1 << 16, steps = 64;
    Words start(size), ring(size), kept(size), expected(size), mixed(size), total(1);
    podium::CacheFlush flush;
    std::uint64_t seed = 0;
    podium::benchmark(
        [&](std::uint64_t fresh) {
            seed = fresh;
            podium::fill(start.data(), start.size(), Word{seed});
            ring.poison();
            kept.poison();
            flush();
        },
        [&] { graph_chain(start.data(), ring.data(), size, steps); }, [&] { kept.copy_from(ring); },
        [&] {
            make_expected(expected, mixed, total, seed, steps);
            podium::expect_equal(kept, expected, "the benchmark's ring");
            ring.expect_guards("ring");
        });
    return 0;
}

}  // namespace

int main(int argc, char** argv) { return podium::wants_benchmark(argc, argv) ? benchmark() : test(); }
