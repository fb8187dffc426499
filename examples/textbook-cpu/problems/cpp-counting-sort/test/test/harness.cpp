// Tests counting_sort with few and many different keys.
#include <algorithm>
#include <numeric>

#include "harness.h"

using namespace textbook;

namespace {

using Bytes = std::vector<std::uint8_t>;

void test_keys(Suite& suite, const Bytes& keys, Random& random) {
    const auto items = random.garbage<int>(keys.size());
    auto sorted_keys = random.garbage<std::uint8_t>(keys.size());
    auto sorted_items = random.garbage<int>(keys.size());
    suite.call(in("keys", keys), in("items", items), static_cast<int>(keys.size()), out("sorted_keys", sorted_keys),
               out("sorted_items", sorted_items));
    std::vector<int> order(keys.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int left, int right) { return keys[left] < keys[right]; });
    Bytes expected_keys;
    std::vector<int> expected_items;
    for (const int from : order) {
        expected_keys.push_back(keys[from]);
        expected_items.push_back(items[from]);
    }
    expect_equal("sorted_keys", sorted_keys, expected_keys);
    expect_equal("sorted_items", sorted_items, expected_items);
}

Bytes few_keys(Random& random, int count, int different) {
    Bytes keys(count);
    for (auto& key : keys) key = static_cast<std::uint8_t>(255 - random.between(0, different - 1));
    return keys;
}

}  // namespace

int main(int argc, char** argv) {
    Suite suite(argc, argv);
    for (const int count : {0, 1, 2, 3, 31, 33, 255, 256, 257, 1000, 4096, 4097, 60001}) {
        suite.test("count " + std::to_string(count), [&](Random& random) {
            for (const int different : {1, 2, 7, 256}) test_keys(suite, few_keys(random, count, different), random);
        });
    }
    suite.test("descending", [&](Random& random) {
        Bytes keys(2000);
        for (int i = 0; i < 2000; ++i) keys[i] = static_cast<std::uint8_t>(255 - i * 256 / 2000);
        test_keys(suite, keys, random);
    });
    return suite.end();
}
