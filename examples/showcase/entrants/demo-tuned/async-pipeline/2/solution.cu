#include "async_pipeline.h"

namespace {

constexpr std::size_t chunk = std::size_t{1} << 20;
constexpr int slots = 4;

// One stream per stage; events pass a slot from stage to stage and back to the first.
struct Pipeline {
    cudaStream_t copy_in = nullptr;
    cudaStream_t compute = nullptr;
    cudaStream_t copy_out = nullptr;
    cudaEvent_t arrived[slots] = {};
    cudaEvent_t shaded[slots] = {};
    cudaEvent_t left[slots] = {};
    float* values[slots] = {};

    Pipeline() {
        for (cudaStream_t* stream : {&copy_in, &compute, &copy_out}) cudaStreamCreateWithFlags(stream, cudaStreamNonBlocking);
        for (int slot = 0; slot < slots; ++slot) {
            cudaMalloc(&values[slot], chunk * sizeof(float));
            for (cudaEvent_t* event : {&arrived[slot], &shaded[slot], &left[slot]}) {
                cudaEventCreateWithFlags(event, cudaEventDisableTiming);
            }
        }
    }
};

__global__ void shade_kernel(float* values, unsigned int size) {
    const unsigned int step = gridDim.x * blockDim.x;
    for (unsigned int i = blockIdx.x * blockDim.x + threadIdx.x; i < size; i += step) values[i] = shade(values[i]);
}

}  // namespace

void async_pipeline(const float* in, float* out, std::size_t size) {
    static Pipeline line;
    int slot = 0;
    for (std::size_t first = 0; first < size; first += chunk, slot = (slot + 1) % slots) {
        const std::size_t count = size - first < chunk ? size - first : chunk;
        const std::size_t bytes = count * sizeof(float);
        cudaStreamWaitEvent(line.copy_in, line.left[slot], 0);
        cudaMemcpyAsync(line.values[slot], in + first, bytes, cudaMemcpyHostToDevice, line.copy_in);
        cudaEventRecord(line.arrived[slot], line.copy_in);
        cudaStreamWaitEvent(line.compute, line.arrived[slot], 0);
        const auto blocks = static_cast<unsigned int>((count + 1023) / 1024);
        shade_kernel<<<blocks, 256, 0, line.compute>>>(line.values[slot], static_cast<unsigned int>(count));
        cudaEventRecord(line.shaded[slot], line.compute);
        cudaStreamWaitEvent(line.copy_out, line.shaded[slot], 0);
        cudaMemcpyAsync(out + first, line.values[slot], bytes, cudaMemcpyDeviceToHost, line.copy_out);
        cudaEventRecord(line.left[slot], line.copy_out);
    }
}
