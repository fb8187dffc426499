// The function to implement.
#pragma once

// result[i] = sum over j of weights[j] * signal[i + radius - j], j in [0, 2 * radius], with zeros outside of the signal.
void convolve_1d(const float* signal, const float* weights, float* result, int count, int radius);
