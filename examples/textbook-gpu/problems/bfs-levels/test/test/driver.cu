// Makes the harness's calls of bfs_levels.
#include "driver.h"

// Repeated from the context on purpose: the driver includes nothing that a solution may replace.
void bfs_levels(const int* starts, const int* targets, int vertex_count, int source, int* levels);

int main() { return textbook::serve(bfs_levels); }
