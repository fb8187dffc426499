// The function to implement.
#pragma once

// *place = the first place of the largest of values[0 .. count) that is not NaN, or -1.
void first_largest(const float* values, int count, int* place);
