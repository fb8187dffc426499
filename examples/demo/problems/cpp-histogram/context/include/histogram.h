// The function to implement.
#pragma once

#include <cstddef>
#include <cstdint>

// counts[v] = how often the byte v occurs in data[0 .. size), for v = 0 .. 255.
// `counts` holds arbitrary values on entry; `data` may have any alignment and `size` may be 0.
void histogram(const std::uint8_t* data, std::size_t size, std::uint32_t* counts);
