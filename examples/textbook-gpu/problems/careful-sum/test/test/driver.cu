// Makes the harness's calls of careful_sum.
#include "driver.h"

// Repeated from the context on purpose: the driver includes nothing that a solution may replace.
void careful_sum(const float* values, int count, float* sum);

int main() { return textbook::serve(careful_sum); }
