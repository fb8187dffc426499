// The function to implement.
#pragma once

// distances[i * second_count + j] = squared distance of point i of `first` and point j of `second`.
void tiled_distances(const float* first, const float* second, float* distances, int first_count, int second_count,
                     int dimensions);
