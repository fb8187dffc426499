// The function to implement.
#pragma once

// blend[i] = a * x[i] + b * y[i] for i in [0, count).
void vector_blend(const float* x, const float* y, float a, float b, float* blend, int count);
