#include "radix_sort.h"

__global__ void kernel(const int* values, int* sorted, int count) {
    for (int j = blockIdx.x * blockDim.x + threadIdx.x; j < count; j += gridDim.x * blockDim.x) {
        int place = 0;
        for (int k = 0; k < count; k++) place += values[k] < values[j] || (values[k] == values[j] && k < j);
        sorted[place] = values[j];
    }
}

void radix_sort(const int* values, int* sorted, int count) {
    kernel<<<512, 128>>>(values, sorted, count);
}
