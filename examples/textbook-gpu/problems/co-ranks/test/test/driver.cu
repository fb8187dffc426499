// Makes the harness's calls of co_ranks.
#include "driver.h"

// Repeated from the context on purpose: the driver includes nothing that a solution may replace.
void co_ranks(const int* a, int a_count, const int* b, int b_count, const int* ranks, int rank_count, int* from_a);

int main() { return textbook::serve(co_ranks); }
