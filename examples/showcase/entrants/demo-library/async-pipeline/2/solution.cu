#include <cub/device/device_for.cuh>

#include "async_pipeline.h"

struct Shade {
    float* values;
    __device__ void operator()(unsigned int i) const { values[i] = shade(values[i]); }
};

// CUB takes a stream, so chunks can take turns on three of them.
void async_pipeline(const float* in, float* out, std::size_t size) {
    constexpr std::size_t chunk = std::size_t{1} << 20;
    constexpr int turns = 3;
    static cudaStream_t streams[turns] = {};
    static float* values[turns] = {};
    if (streams[0] == nullptr) {
        for (int turn = 0; turn < turns; ++turn) {
            cudaStreamCreateWithFlags(&streams[turn], cudaStreamNonBlocking);
            cudaMalloc(&values[turn], chunk * sizeof(float));
        }
    }
    int turn = 0;
    for (std::size_t first = 0; first < size; first += chunk, turn = (turn + 1) % turns) {
        const std::size_t count = size - first < chunk ? size - first : chunk;
        const std::size_t bytes = count * sizeof(float);
        cudaMemcpyAsync(values[turn], in + first, bytes, cudaMemcpyHostToDevice, streams[turn]);
        cub::DeviceFor::Bulk(static_cast<unsigned int>(count), Shade{values[turn]}, streams[turn]);
        cudaMemcpyAsync(out + first, values[turn], bytes, cudaMemcpyDeviceToHost, streams[turn]);
    }
}
