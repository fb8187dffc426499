// The function to implement.
#pragma once

// labels[v] = lowest number of a vertex in v's component; edge i connects from[i] and to[i].
void components(const int* from, const int* to, int edge_count, int vertex_count, int* labels);
