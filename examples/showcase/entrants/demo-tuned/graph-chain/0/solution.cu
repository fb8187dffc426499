// One kernel per step: it folds the step before on the fly (a cell and its two neighbours), mixes and adds up. The
// whole chain is captured into a CUDA graph once per set of arguments, then launched as one.
#include "graph_chain.h"

#include <cuda_runtime.h>

namespace {

constexpr int threads = 256;

__device__ __forceinline__ std::uint32_t fold(std::uint32_t mixed, std::uint32_t total, std::uint32_t step) {
    return (mixed + total) * 2246822519u + step;
}

__device__ __forceinline__ std::uint32_t mix(std::uint32_t left, std::uint32_t cell, std::uint32_t right) {
    const std::uint32_t sum = cell * 2654435761u + right;
    return __funnelshift_l(sum, sum, 13) ^ left;
}

__device__ __forceinline__ void add_to_total(std::uint32_t mixed, std::uint32_t* total) {
    __shared__ std::uint32_t sums[threads / 32];
    const std::uint32_t sum = __reduce_add_sync(0xffffffffu, mixed);
    if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x < 32) {
        const std::uint32_t block = __reduce_add_sync(0xffffffffu, threadIdx.x < threads / 32 ? sums[threadIdx.x] : 0);
        if (threadIdx.x == 0) atomicAdd(total, block);
    }
}

__global__ void __launch_bounds__(threads) first_step(const std::uint32_t* start, std::uint32_t* mixed,
                                                      std::uint32_t* total, int size) {
    const int i = blockIdx.x * threads + threadIdx.x;
    std::uint32_t value = 0;
    if (i < size) {
        value = mix(start[i > 0 ? i - 1 : size - 1], start[i], start[i + 1 < size ? i + 1 : 0]);
        mixed[i] = value;
    }
    add_to_total(value, total);
}

// `totals[step - 1]` is complete, `totals[step]` is being added up.
__global__ void __launch_bounds__(threads) next_step(const std::uint32_t* before, std::uint32_t* mixed,
                                                     std::uint32_t* totals, int size, int step) {
    const int i = blockIdx.x * threads + threadIdx.x;
    const std::uint32_t total = totals[step - 1];
    std::uint32_t value = 0;
    if (i < size) {
        value = mix(fold(before[i > 0 ? i - 1 : size - 1], total, step - 1), fold(before[i], total, step - 1),
                    fold(before[i + 1 < size ? i + 1 : 0], total, step - 1));
        mixed[i] = value;
    }
    add_to_total(value, totals + step);
}

__global__ void __launch_bounds__(threads) last_fold(const std::uint32_t* mixed, const std::uint32_t* totals,
                                                     std::uint32_t* ring, int size, int steps) {
    const int i = blockIdx.x * threads + threadIdx.x;
    if (i < size) ring[i] = fold(mixed[i], totals[steps - 1], steps - 1);
}

void enqueue(const std::uint32_t* start, std::uint32_t* ring, std::uint32_t* scratch, int size, int steps,
             cudaStream_t stream) {
    std::uint32_t* mixed[2] = {scratch, scratch + size};
    std::uint32_t* totals = scratch + 2 * static_cast<std::size_t>(size);
    const int blocks = (size + threads - 1) / threads;
    cudaMemsetAsync(totals, 0, steps * sizeof *totals, stream);
    first_step<<<blocks, threads, 0, stream>>>(start, mixed[0], totals, size);
    for (int step = 1; step < steps; ++step) {
        next_step<<<blocks, threads, 0, stream>>>(mixed[(step - 1) % 2], mixed[step % 2], totals, size, step);
    }
    last_fold<<<blocks, threads, 0, stream>>>(mixed[(steps - 1) % 2], totals, ring, size, steps);
}

// The recorded chain; the graph holds addresses and counts, never contents.
struct Recording {
    const std::uint32_t* start = nullptr;
    std::uint32_t* ring = nullptr;
    int size = 0;
    int steps = 0;
    std::uint32_t* scratch = nullptr;
    std::size_t scratch_words = 0;
    cudaGraphExec_t graph = nullptr;

    bool fits(const std::uint32_t* start_now, std::uint32_t* ring_now, int size_now, int steps_now) const {
        return graph != nullptr && start == start_now && ring == ring_now && size == size_now && steps == steps_now;
    }

    void record(const std::uint32_t* start_now, std::uint32_t* ring_now, int size_now, int steps_now) {
        start = start_now, ring = ring_now, size = size_now, steps = steps_now;
        if (graph != nullptr) cudaGraphExecDestroy(graph);
        graph = nullptr;
        const std::size_t words = 2 * static_cast<std::size_t>(size) + steps;
        if (words > scratch_words) {
            cudaFree(scratch);
            cudaMalloc(&scratch, words * sizeof *scratch);
            scratch_words = words;
        }
        cudaStream_t stream;
        cudaGraph_t recorded;
        cudaStreamCreate(&stream);
        cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
        enqueue(start, ring, scratch, size, steps, stream);
        cudaStreamEndCapture(stream, &recorded);
        cudaGraphInstantiate(&graph, recorded, 0);
        cudaGraphDestroy(recorded);
        cudaStreamDestroy(stream);
    }
};

}  // namespace

void graph_chain(const std::uint32_t* start, std::uint32_t* ring, int size, int steps) {
    static Recording recording;
    if (size == 0) return;
    if (steps == 0) {
        cudaMemcpyAsync(ring, start, size * sizeof *ring, cudaMemcpyDeviceToDevice);
        return;
    }
    if (!recording.fits(start, ring, size, steps)) recording.record(start, ring, size, steps);
    cudaGraphLaunch(recording.graph, 0);
}
