// The function to implement.
#pragma once

// `end` = `start` after `steps` steps of u += rate * (sum of six neighbours - 6 * u); cells on the surface stay.
void heat_3d(const float* start, float* end, int nx, int ny, int nz, float rate, int steps);
