// Tests components with chains, rings, single vertices and random graphs.
#include <utility>

#include "harness.h"

using namespace textbook;

namespace {

struct Edges {
    std::vector<int> from, to;

    void add(int one, int other) {
        from.push_back(one);
        to.push_back(other);
    }
};

int root_of(std::vector<int>& parents, int v) {
    while (parents[v] != v) v = parents[v] = parents[parents[v]];
    return v;
}

// The root of each tree is its lowest vertex.
std::vector<int> expected_labels(const Edges& edges, int vertex_count) {
    std::vector<int> parents(vertex_count);
    for (int v = 0; v < vertex_count; ++v) parents[v] = v;
    for (std::size_t i = 0; i < edges.from.size(); ++i) {
        const int left = root_of(parents, edges.from[i]), right = root_of(parents, edges.to[i]);
        parents[left < right ? right : left] = left < right ? left : right;
    }
    for (int v = 0; v < vertex_count; ++v) parents[v] = root_of(parents, v);
    return parents;
}

void test_graph(Suite& suite, const Edges& edges, int vertex_count, Random& random) {
    auto labels = random.garbage<int>(vertex_count);
    suite.call(in("from", edges.from), in("to", edges.to), static_cast<int>(edges.from.size()), vertex_count,
               out("labels", labels));
    expect_equal("labels", labels, expected_labels(edges, vertex_count));
}

std::vector<int> random_order(Random& random, int count) {
    std::vector<int> order(count);
    for (int i = 0; i < count; ++i) order[i] = i;
    for (int i = count; i > 1; --i) std::swap(order[i - 1], order[random.between(0, i - 1)]);
    return order;
}

}  // namespace

int main(int argc, char** argv) {
    Suite suite(argc, argv);
    const int shapes[][2] = {{0, 0}, {1, 0}, {1, 2}, {2, 1}, {5, 0}, {100, 30}, {257, 200}, {1000, 500}, {3000, 9000}, {60000, 40000}};
    for (const auto& [vertices, edge_count] : shapes) {
        const auto name = std::to_string(vertices) + " vertices, " + std::to_string(edge_count) + " edges";
        suite.test(name, [&, v = vertices, e = edge_count](Random& random) {
            Edges edges;
            for (int i = 0; i < e; ++i) edges.add(random.between(0, v - 1), random.between(0, v - 1));
            test_graph(suite, edges, v, random);
        });
    }
    suite.test("a chain that ascends, and one that descends", [&](Random& random) {
        Edges up, down;
        for (int v = 0; v + 1 < 2000; ++v) {
            up.add(v, v + 1);
            down.add(v + 1, v);
        }
        test_graph(suite, up, 2000, random);
        test_graph(suite, down, 2000, random);
    });
    suite.test("rings in random order", [&](Random& random) {
        const auto order = random_order(random, 1500);
        Edges edges;
        for (int i = 0; i < 1500; ++i) edges.add(order[i], order[i % 500 == 499 ? i - 499 : i + 1]);
        test_graph(suite, edges, 1500, random);
    });
    return suite.end();
}
