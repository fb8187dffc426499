#include "records_to_columns.h"

__global__ void kernel(const Record* r, int count, std::uint32_t* x, std::uint32_t* y, std::uint32_t* z, std::uint8_t* live) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) {
        x[i] = r[i].x;
        y[i] = r[i].y;
        z[i] = r[i].z;
        live[i] = r[i].flags & 1u ? 1 : 0;
    }
}

void records_to_columns(const Record* records, int count, std::uint32_t* x, std::uint32_t* y, std::uint32_t* z,
                        std::uint8_t* live) {
    kernel<<<count / 512 + 1, 512>>>(records, count, x, y, z, live);
}
