// The function to implement.
#pragma once

// out[s][i] = the sum over j in [0, n) of filter[j] * signals[s][(i - j) mod n], for each s in [0, batch): the circular
// convolution of `batch` signals of n values with one filter of n values. All arrays are in device memory; n >= 2,
// batch >= 1.
void fft_convolution(const float* signals, const float* filter, float* out, int batch, int n);
