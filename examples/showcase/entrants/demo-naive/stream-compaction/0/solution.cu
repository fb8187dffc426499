#include "compact.h"

#include <cuda_runtime.h>
#include <thrust/device_vector.h>
#include <thrust/scan.h>

// A flag per value, a scan over the flags, then everyone knows their place.
__global__ static void mark(const float* values, int count, float threshold, int* flags) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) flags[i] = values[i] > threshold ? 1 : 0;
}

__global__ static void move(const float* values, int count, float threshold, const int* places, float* kept) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count && values[i] > threshold) kept[places[i] - 1] = values[i];
}

void compact(const float* values, int count, float threshold, float* kept, int* kept_count) {
    cudaMemset(kept_count, 0, sizeof(int));
    if (count == 0) return;
    thrust::device_vector<int> places(count);
    int* raw = thrust::raw_pointer_cast(places.data());
    int blocks = (count + 255) / 256;
    mark<<<blocks, 256>>>(values, count, threshold, raw);
    thrust::inclusive_scan(places.begin(), places.end(), places.begin());
    move<<<blocks, 256>>>(values, count, threshold, raw, kept);
    cudaMemcpy(kept_count, raw + count - 1, sizeof(int), cudaMemcpyDeviceToDevice);
}
