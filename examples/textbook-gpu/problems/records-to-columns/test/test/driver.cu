// Makes the harness's calls of records_to_columns.
#include "driver.h"

// Repeated from the context on purpose: the driver includes nothing that a solution may replace.
struct Record {
    std::uint32_t x, y, z;  // coordinates, as bits
    std::uint32_t flags;
};

void records_to_columns(const Record* records, int count, std::uint32_t* x, std::uint32_t* y, std::uint32_t* z,
                        std::uint8_t* live);

int main() { return textbook::serve(records_to_columns); }
