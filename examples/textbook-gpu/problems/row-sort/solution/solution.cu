#include "row_sort.h"

constexpr int most_columns = 1024;
constexpr int threads = most_columns / 2;
constexpr int highest = 2147483647;

__global__ static void sort_row(const int* matrix, int* sorted, int columns) {
    __shared__ int row[most_columns];
    const int first = blockIdx.x * columns;
    for (int i = threadIdx.x; i < most_columns; i += threads) row[i] = i < columns ? matrix[first + i] : highest;
    for (int size = 2; size <= most_columns; size *= 2) {
        for (int distance = size / 2; distance > 0; distance /= 2) {
            __syncthreads();
            const int low = 2 * threadIdx.x - threadIdx.x % distance;
            const int high = low + distance;
            const bool ascends = (low & size) == 0;
            const int left = row[low], right = row[high];
            if ((left > right) == ascends) {
                row[low] = right;
                row[high] = left;
            }
        }
    }
    __syncthreads();
    for (int i = threadIdx.x; i < columns; i += threads) sorted[first + i] = row[i];
}

void row_sort(const int* matrix, int* sorted, int rows, int columns) {
    if (rows > 0 && columns > 0) sort_row<<<rows, threads>>>(matrix, sorted, columns);
}
