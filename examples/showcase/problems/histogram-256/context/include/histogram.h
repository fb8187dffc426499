// The function to implement.
#pragma once

#include <cstddef>
#include <cstdint>

// counts[v] = how many of data[0] .. data[size - 1] equal v, for v = 0 .. 255. Pointers are to device memory; `data`
// has any alignment and stays as it is, `counts` has 256 elements with arbitrary bytes on entry. 0 <= size < 2^32.
void histogram(const std::uint8_t* data, std::size_t size, std::uint32_t* counts);
