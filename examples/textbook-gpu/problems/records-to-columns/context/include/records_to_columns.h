// The function to implement.
#pragma once

#include <cstdint>

struct Record {
    std::uint32_t x, y, z;  // coordinates, as bits
    std::uint32_t flags;
};

// x[i], y[i], z[i] = the coordinates of records[i], live[i] = bit 0 of its flags, for i in [0, count).
void records_to_columns(const Record* records, int count, std::uint32_t* x, std::uint32_t* y, std::uint32_t* z,
                        std::uint8_t* live);
