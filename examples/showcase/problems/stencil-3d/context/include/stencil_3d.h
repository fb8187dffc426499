// The function to implement.
#pragma once

#include <cstddef>

// What the point itself, its six neighbours at distance 1 and its six neighbours at distance 2 along the axes count.
struct StencilWeights {
    float center;
    float near;
    float far;
};

// out[z][y][x] = center * in[z][y][x] + near * (sum over the neighbours at distance 1) + far * (at distance 2).
// Points outside of the grid count as 0. Device pointers, aligned as by cudaMalloc; grids of nz x ny x nx points, x runs
// fastest. A size may be 0.
void stencil_3d(const float* in, float* out, std::size_t nz, std::size_t ny, std::size_t nx, StencilWeights weights);
