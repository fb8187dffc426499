// Makes the harness's calls of row_softmax.
#include "driver.h"

// Repeated from the context on purpose: the driver includes nothing that a solution may replace.
void row_softmax(const float* scores, float* shares, int rows, int columns);

int main() { return textbook::serve(row_softmax); }
