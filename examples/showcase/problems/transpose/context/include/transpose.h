// The function to implement.
#pragma once

#include <cstddef>
#include <cstdint>

// out[c][r] = in[r][c]: `in` is rows x columns, `out` columns x rows, both row-major.
// Device pointers, aligned as by cudaMalloc, to words that may hold anything. `rows` and `columns` may be 0.
void transpose(const std::uint32_t* in, std::uint32_t* out, std::size_t rows, std::size_t columns);
