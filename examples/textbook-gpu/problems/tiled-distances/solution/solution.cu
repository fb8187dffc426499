#include "tiled_distances.h"

constexpr int tile = 16;

__device__ static float coordinate(const float* points, int point, int count, int k, int dimensions) {
    return point < count && k < dimensions ? points[point * dimensions + k] : 0.0f;
}

__global__ static void measure(const float* first, const float* second, float* distances, int first_count,
                               int second_count, int dimensions) {
    __shared__ float ours[tile][tile];
    __shared__ float theirs[tile][tile + 1];
    const int i = blockIdx.y * tile + threadIdx.y;
    const int j = blockIdx.x * tile + threadIdx.x;
    float sum = 0.0f;
    for (int start = 0; start < dimensions; start += tile) {
        const int k = start + threadIdx.x;
        ours[threadIdx.y][threadIdx.x] = coordinate(first, i, first_count, k, dimensions);
        theirs[threadIdx.y][threadIdx.x] = coordinate(second, blockIdx.x * tile + threadIdx.y, second_count, k, dimensions);
        __syncthreads();
        for (int at = 0; at < tile; ++at) {
            const float difference = ours[threadIdx.y][at] - theirs[threadIdx.x][at];
            sum += difference * difference;
        }
        __syncthreads();
    }
    if (i < first_count && j < second_count) distances[i * second_count + j] = sum;
}

void tiled_distances(const float* first, const float* second, float* distances, int first_count, int second_count,
                     int dimensions) {
    if (first_count == 0 || second_count == 0) return;
    const dim3 blocks((second_count + tile - 1) / tile, (first_count + tile - 1) / tile);
    measure<<<blocks, dim3(tile, tile)>>>(first, second, distances, first_count, second_count, dimensions);
}
