// The function to implement.
#pragma once

// Bit b of words[w] = (values[32 * w + b] > threshold); bits behind the last value are 0.
void pack_bits(const float* values, float threshold, unsigned* words, int count);
