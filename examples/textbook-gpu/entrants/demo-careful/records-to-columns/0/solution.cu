#include "records_to_columns.h"

__global__ static void split(const uint4* records, int count, std::uint32_t* x, std::uint32_t* y, std::uint32_t* z,
                             std::uint8_t* live) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        const uint4 record = records[i];
        x[i] = record.x;
        y[i] = record.y;
        z[i] = record.z;
        live[i] = record.w % 2;
    }
}

void records_to_columns(const Record* records, int count, std::uint32_t* x, std::uint32_t* y, std::uint32_t* z,
                        std::uint8_t* live) {
    split<<<132, 256>>>(reinterpret_cast<const uint4*>(records), count, x, y, z, live);
}
