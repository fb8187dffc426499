// The function to implement.
#pragma once

// levels[v] = smallest number of edges from `source` to v, -1 if there is no way; v's edges lead to targets[starts[v] ..
// starts[v + 1]).
void bfs_levels(const int* starts, const int* targets, int vertex_count, int source, int* levels);
