// Makes the harness's calls of matmul.
#include "driver.h"

// Repeated from the context on purpose: the driver includes nothing that a solution may replace.
void matmul(const float* left, const float* right, float* product, int rows, int depth, int columns);

int main() { return textbook::serve(matmul); }
