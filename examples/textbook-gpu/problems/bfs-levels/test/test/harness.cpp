// Tests bfs_levels with chains, stars, sparse and dense random graphs.
#include <utility>

#include "harness.h"

using namespace textbook;

namespace {

using Edges = std::vector<std::pair<int, int>>;

struct Graph {
    std::vector<int> starts, targets;
};

Graph graph_of(const Edges& edges, int vertex_count) {
    Graph graph{std::vector<int>(vertex_count + 1, 0), std::vector<int>(edges.size())};
    for (const auto& edge : edges) ++graph.starts[edge.first + 1];
    for (int v = 0; v < vertex_count; ++v) graph.starts[v + 1] += graph.starts[v];
    auto next = graph.starts;
    for (const auto& [from, to] : edges) graph.targets[next[from]++] = to;
    return graph;
}

std::vector<int> expected_levels(const Graph& graph, int vertex_count, int source) {
    std::vector<int> levels(vertex_count, -1), queue{source};
    levels[source] = 0;
    for (std::size_t head = 0; head < queue.size(); ++head) {
        const int v = queue[head];
        for (int i = graph.starts[v]; i < graph.starts[v + 1]; ++i) {
            const int target = graph.targets[i];
            if (levels[target] >= 0) continue;
            levels[target] = levels[v] + 1;
            queue.push_back(target);
        }
    }
    return levels;
}

void test_graph(Suite& suite, const Edges& edges, int vertex_count, int source, Random& random) {
    const Graph graph = graph_of(edges, vertex_count);
    auto levels = random.garbage<int>(vertex_count);
    suite.call(in("starts", graph.starts), in("targets", graph.targets), vertex_count, source, out("levels", levels));
    expect_equal("levels", levels, expected_levels(graph, vertex_count, source));
}

Edges random_edges(Random& random, int count, int vertex_count) {
    Edges edges;
    for (int i = 0; i < count; ++i) {
        const int from = random.between(0, vertex_count - 1);
        edges.emplace_back(from, random.between(0, vertex_count - 1));
    }
    return edges;
}

// Vertices in random order, each with an edge to the next.
std::vector<int> random_order(Random& random, int count) {
    std::vector<int> order(count);
    for (int i = 0; i < count; ++i) order[i] = i;
    for (int i = count; i > 1; --i) std::swap(order[i - 1], order[random.between(0, i - 1)]);
    return order;
}

}  // namespace

int main(int argc, char** argv) {
    Suite suite(argc, argv);
    const int shapes[][2] = {{1, 0}, {1, 3}, {2, 1}, {10, 9}, {255, 400}, {257, 300}, {1000, 1500}, {5000, 40000}, {50000, 60000}};
    for (const auto& [vertices, edges] : shapes) {
        const auto name = std::to_string(vertices) + " vertices, " + std::to_string(edges) + " edges";
        suite.test(name, [&, v = vertices, e = edges](Random& random) {
            test_graph(suite, random_edges(random, e, v), v, random.between(0, v - 1), random);
        });
    }
    suite.test("a chain", [&](Random& random) {
        constexpr int length = 700;
        const auto order = random_order(random, length);
        Edges edges;
        for (int i = 0; i + 1 < length; ++i) edges.emplace_back(order[i], order[i + 1]);
        test_graph(suite, edges, length, order[0], random);
        test_graph(suite, edges, length, order[length / 2], random);
    });
    suite.test("a star", [&](Random& random) {
        Edges edges;
        for (int v = 1; v < 3000; ++v) edges.emplace_back(0, v);
        test_graph(suite, edges, 3000, 0, random);
        test_graph(suite, edges, 3000, 2999, random);
    });
    return suite.end();
}
