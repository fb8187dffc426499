// The function to implement.
#pragma once

// out[y][x] = sum over dy, dx in -2 .. 2 of weights[dy + 2][dx + 2] * image[clamp(y + dy)][clamp(x + dx)],
// where clamp moves a coordinate outside the image to the nearest one inside. Row-major; width, height >= 1.
// `out` holds arbitrary bytes on entry and does not overlap the other arrays.
void filter5x5(const float* image, int width, int height, const float* weights, float* out);
