// Makes the harness's calls of coo_to_csr.
#include "driver.h"

// Repeated from the context on purpose: the driver includes nothing that a solution may replace.
void coo_to_csr(const int* rows, const int* columns, const std::uint32_t* values, int count, int row_count, int* row_starts,
                int* csr_columns, std::uint32_t* csr_values);

int main() { return textbook::serve(coo_to_csr); }
