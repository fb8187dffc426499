#include <vector>

#include "bfs_levels.h"

void bfs_levels(const int* starts, const int* targets, int vertex_count, int source, int* levels) {
    for (int v = 0; v < vertex_count; ++v) levels[v] = -1;
    std::vector<int> queue{source};
    levels[source] = 0;
    for (std::size_t head = 0; head < queue.size(); ++head) {
        const int v = queue[head];
        for (int i = starts[v]; i < starts[v + 1]; ++i) {
            if (levels[targets[i]] >= 0) continue;
            levels[targets[i]] = levels[v] + 1;
            queue.push_back(targets[i]);
        }
    }
}
