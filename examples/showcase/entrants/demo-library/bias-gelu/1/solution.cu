#include <cub/device/device_for.cuh>

#include "bias_gelu.h"

struct BiasGelu {
    const float* x;
    const float* bias;
    const float* residual;
    float* out;
    unsigned int columns;

    __device__ void operator()(std::size_t i) const {
        const float v = x[i] + __ldg(bias + static_cast<unsigned int>(i) % columns);
        out[i] = residual[i] + 0.5f * v * (1.0f + erff(v * 0.70710678f));
    }
};

// Indices stay below 2^32 as long as the matrices fit into 16 GB.
void bias_gelu(const float* x, const float* bias, const float* residual, float* out, std::size_t rows,
               std::size_t columns) {
    const std::size_t size = rows * columns;
    if (size != 0) cub::DeviceFor::Bulk(size, BiasGelu{x, bias, residual, out, static_cast<unsigned int>(columns)});
}
