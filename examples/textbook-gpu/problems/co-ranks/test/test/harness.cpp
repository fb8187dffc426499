// Tests co_ranks against a merge of the two lists.
#include <algorithm>

#include "harness.h"

using namespace textbook;

namespace {

// counts[k] = how many of the first k merged elements come from a.
std::vector<int> merged_counts(const std::vector<int>& a, const std::vector<int>& b) {
    std::vector<int> counts{0};
    std::size_t i = 0, j = 0;
    while (i < a.size() || j < b.size()) {
        const bool takes_a = j == b.size() || (i < a.size() && a[i] <= b[j]);
        takes_a ? ++i : ++j;
        counts.push_back(static_cast<int>(i));
    }
    return counts;
}

void test_lists(Suite& suite, std::vector<int> a, std::vector<int> b, int rank_count, Random& random) {
    std::sort(a.begin(), a.end());
    std::sort(b.begin(), b.end());
    const auto counts = merged_counts(a, b);
    auto ranks = random.integers(rank_count, 0, static_cast<int>(a.size() + b.size()));
    if (rank_count > 1) {
        ranks[0] = static_cast<int>(a.size() + b.size());
        ranks[1] = 0;
    }
    auto from_a = random.garbage<int>(rank_count);
    suite.call(in("a", a), static_cast<int>(a.size()), in("b", b), static_cast<int>(b.size()), in("ranks", ranks), rank_count,
               out("from_a", from_a));
    std::vector<int> expected;
    for (const int rank : ranks) expected.push_back(counts[rank]);
    expect_equal("from_a", from_a, expected);
}

}  // namespace

int main(int argc, char** argv) {
    Suite suite(argc, argv);
    constexpr int lowest = std::numeric_limits<int>::min(), highest = std::numeric_limits<int>::max();
    const int counts[][2] = {{0, 0}, {0, 9}, {9, 0}, {1, 1}, {3, 2}, {32, 31}, {200, 1}, {1, 200}, {1000, 999}, {50, 20001}};
    for (const auto& [a_count, b_count] : counts) {
        suite.test(std::to_string(a_count) + " and " + std::to_string(b_count), [&, a = a_count, b = b_count](Random& random) {
            for (const int ranks : {0, 1, 100, 3001}) {
                test_lists(suite, random.integers(a, lowest, highest), random.integers(b, lowest, highest), ranks, random);
                test_lists(suite, random.integers(a, -2, 2), random.integers(b, -2, 2), ranks, random);
            }
        });
    }
    suite.test("one list behind the other", [&](Random& random) {
        test_lists(suite, random.integers(300, 5, 9), random.integers(400, -9, -5), 2000, random);
        test_lists(suite, random.integers(300, -9, -5), random.integers(400, 5, 9), 2000, random);
    });
    return suite.end();
}
