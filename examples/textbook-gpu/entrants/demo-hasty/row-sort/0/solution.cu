#include "row_sort.h"

__global__ void kernel(const int* matrix, int* sorted, int columns) {
    __shared__ int row[1024];
    for (int j = threadIdx.x; j < columns; j += blockDim.x) row[j] = matrix[blockIdx.x * columns + j];
    __syncthreads();
    for (int j = threadIdx.x; j < columns; j += blockDim.x) {
        int place = 0;
        for (int k = 0; k < columns; k++) place += row[k] < row[j];
        sorted[blockIdx.x * columns + place] = row[j];
    }
}

void row_sort(const int* matrix, int* sorted, int rows, int columns) {
    if (rows && columns) kernel<<<rows, 256>>>(matrix, sorted, columns);
}
