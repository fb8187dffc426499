#include "tiled_distances.h"

__global__ void kernel(const float* first, const float* second, float* distances, int first_count, int second_count, int dimensions) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= first_count * second_count) return;
    float sum = 0;
    for (int k = 0; k < dimensions; k++) {
        float d = first[i / second_count * dimensions + k] - second[i % second_count * dimensions + k];
        sum += d * d;
    }
    distances[i] = sum;
}

void tiled_distances(const float* first, const float* second, float* distances, int first_count, int second_count,
                     int dimensions) {
    int n = first_count * second_count;
    if (n) kernel<<<(n + 255) / 256, 256>>>(first, second, distances, first_count, second_count, dimensions);
}
