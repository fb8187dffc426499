// The function to implement.
#pragma once

// shares[i][j] = exp(scores[i][j]) / sum over k of exp(scores[i][k]); 0 where all scores of the row are -infinity.
void row_softmax(const float* scores, float* shares, int rows, int columns);
