#include "tiled_distances.h"

constexpr int points = 64;
constexpr int most_dimensions = 256;

// A block has one point of the first set in shared memory, and its threads one point each of the second.
__global__ static void measure(const float* first, const float* second, float* distances, int second_count, int dimensions) {
    __shared__ float mine[most_dimensions];
    for (int k = threadIdx.x; k < dimensions; k += points) mine[k] = first[blockIdx.x * dimensions + k];
    __syncthreads();
    for (int j = threadIdx.x; j < second_count; j += points) {
        float sum = 0.0f;
        for (int k = 0; k < dimensions; ++k) {
            const float difference = mine[k] - second[j * dimensions + k];
            sum += difference * difference;
        }
        distances[blockIdx.x * second_count + j] = sum;
    }
}

void tiled_distances(const float* first, const float* second, float* distances, int first_count, int second_count,
                     int dimensions) {
    if (first_count > 0) measure<<<first_count, points>>>(first, second, distances, second_count, dimensions);
}
