// Makes the harness's calls of long_sum.
#include "driver.h"

// Repeated from the context on purpose: the driver includes nothing that a solution may replace.
void long_sum(const int* values, int count, long long* sum);

int main() { return textbook::serve(long_sum); }
