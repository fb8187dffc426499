#include "row_sort.h"

// By rank: the place of a value is the number of values that come before it.
__global__ static void sort_row(const int* matrix, int* sorted, int columns) {
    __shared__ int row[1024];
    const int first = blockIdx.x * columns;
    for (int j = threadIdx.x; j < columns; j += blockDim.x) row[j] = matrix[first + j];
    __syncthreads();
    for (int j = threadIdx.x; j < columns; j += blockDim.x) {
        int place = 0;
        for (int k = 0; k < columns; ++k) place += row[k] < row[j] || (row[k] == row[j] && k < j) ? 1 : 0;
        sorted[first + place] = row[j];
    }
}

void row_sort(const int* matrix, int* sorted, int rows, int columns) {
    if (rows > 0 && columns > 0) sort_row<<<rows, 128>>>(matrix, sorted, columns);
}
