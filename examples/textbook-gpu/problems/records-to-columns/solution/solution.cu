#include "records_to_columns.h"

__global__ static void split(const Record* records, int count, std::uint32_t* x, std::uint32_t* y, std::uint32_t* z,
                             std::uint8_t* live) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const Record record = records[i];
    x[i] = record.x;
    y[i] = record.y;
    z[i] = record.z;
    live[i] = static_cast<std::uint8_t>(record.flags & 1);
}

void records_to_columns(const Record* records, int count, std::uint32_t* x, std::uint32_t* y, std::uint32_t* z,
                        std::uint8_t* live) {
    if (count > 0) split<<<(count + 255) / 256, 256>>>(records, count, x, y, z, live);
}
