#include <cub/device/device_for.cuh>

#include "transpose.h"

struct Move {
    const std::uint32_t* in;
    std::uint32_t* out;
    unsigned int rows;
    unsigned int columns;
    __device__ void operator()(unsigned int i) const { out[i] = in[i % rows * columns + i / rows]; }
};

void transpose(const std::uint32_t* in, std::uint32_t* out, std::size_t rows, std::size_t columns) {
    const auto size = static_cast<unsigned int>(rows * columns);
    if (size == 0) return;
    cub::DeviceFor::Bulk(size, Move{in, out, static_cast<unsigned int>(rows), static_cast<unsigned int>(columns)});
}
