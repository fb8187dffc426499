// The function to implement.
#pragma once

#include <cstdint>

// Entries by row, and in each row by ascending column; row_starts[r] = number of entries in rows before r.
void coo_to_csr(const int* rows, const int* columns, const std::uint32_t* values, int count, int row_count, int* row_starts,
                int* csr_columns, std::uint32_t* csr_values);
