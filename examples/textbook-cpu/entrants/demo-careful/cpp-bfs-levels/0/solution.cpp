#include <algorithm>
#include <queue>

#include "bfs_levels.h"

void bfs_levels(const int* starts, const int* targets, int vertex_count, int source, int* levels) {
    std::fill(levels, levels + vertex_count, -1);
    std::queue<int> waiting;
    waiting.push(source);
    levels[source] = 0;
    while (!waiting.empty()) {
        const int v = waiting.front();
        waiting.pop();
        for (int i = starts[v]; i < starts[v + 1]; ++i) {
            const int target = targets[i];
            if (levels[target] != -1) continue;
            levels[target] = levels[v] + 1;
            waiting.push(target);
        }
    }
}
