// Tests stable_merge with many equal keys, and with lists of very different lengths.
#include <algorithm>
#include <numeric>

#include "harness.h"

using namespace textbook;

namespace {

std::vector<int> numbered(int count, int first) {
    std::vector<int> items(count);
    std::iota(items.begin(), items.end(), first);
    return items;
}

// Of the places in `all`, the stable order of their keys.
std::vector<int> stable_order(const std::vector<int>& all) {
    auto order = numbered(static_cast<int>(all.size()), 0);
    std::stable_sort(order.begin(), order.end(), [&](int left, int right) { return all[left] < all[right]; });
    return order;
}

void test_lists(Suite& suite, std::vector<int> a_keys, std::vector<int> b_keys, Random& random) {
    std::sort(a_keys.begin(), a_keys.end());
    std::sort(b_keys.begin(), b_keys.end());
    const int a_count = static_cast<int>(a_keys.size()), b_count = static_cast<int>(b_keys.size());
    const auto a_items = numbered(a_count, 0), b_items = numbered(b_count, a_count);
    auto keys = random.garbage<int>(a_count + b_count), items = keys;
    suite.call(in("a_keys", a_keys), in("a_items", a_items), a_count, in("b_keys", b_keys), in("b_items", b_items), b_count,
               out("keys", keys), out("items", items));
    std::vector<int> all = a_keys;
    all.insert(all.end(), b_keys.begin(), b_keys.end());
    const auto order = stable_order(all);
    std::vector<int> expected;
    for (const int from : order) expected.push_back(all[from]);
    expect_equal("keys", keys, expected);
    expect_equal("items", items, order);
}

}  // namespace

int main(int argc, char** argv) {
    Suite suite(argc, argv);
    constexpr int lowest = std::numeric_limits<int>::min(), highest = std::numeric_limits<int>::max();
    const int counts[][2] = {{0, 0},   {0, 5},     {5, 0},      {1, 1},        {2, 3},    {31, 33}, {255, 1},
                             {1, 300}, {256, 257}, {1000, 999}, {40001, 7001}, {3, 30000}};
    for (const auto& [a_count, b_count] : counts) {
        suite.test(std::to_string(a_count) + " and " + std::to_string(b_count), [&, a = a_count, b = b_count](Random& random) {
            test_lists(suite, random.integers(a, lowest, highest), random.integers(b, lowest, highest), random);
            test_lists(suite, random.integers(a, -3, 3), random.integers(b, -3, 3), random);
        });
    }
    suite.test("extreme keys", [&](Random& random) {
        test_lists(suite, {lowest, lowest, 0, highest, highest}, {lowest, 0, 0, highest}, random);
    });
    suite.test("one list behind the other", [&](Random& random) {
        test_lists(suite, random.integers(500, 10, 20), random.integers(700, -20, -10), random);
        test_lists(suite, random.integers(500, -20, -10), random.integers(700, 10, 20), random);
    });
    return suite.end();
}
