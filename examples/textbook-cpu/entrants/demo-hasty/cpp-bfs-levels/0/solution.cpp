#include "bfs_levels.h"

void bfs_levels(const int* starts, const int* targets, int vertex_count, int source, int* levels) {
    for (int v = 0; v < vertex_count; ++v) levels[v] = v == source ? 0 : -1;
    bool changed = true;
    while (changed) {
        changed = false;
        for (int v = 0; v < vertex_count; ++v)
            for (int i = starts[v]; levels[v] >= 0 && i < starts[v + 1]; ++i)
                if (levels[targets[i]] < 0 || levels[targets[i]] > levels[v] + 1) {
                    levels[targets[i]] = levels[v] + 1;
                    changed = true;
                }
    }
}
