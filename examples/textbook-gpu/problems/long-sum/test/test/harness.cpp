// Tests long_sum with sums of both signs that need more than 32 bits.
#include "harness.h"

using namespace textbook;

namespace {

constexpr int lowest = std::numeric_limits<int>::min(), highest = std::numeric_limits<int>::max();

void test_values(Suite& suite, const std::vector<int>& values, Random& random) {
    auto sum = random.garbage<long long>(1);
    suite.call(in("values", values), static_cast<int>(values.size()), out("sum", sum));
    std::vector<long long> expected{0};
    for (const int value : values) expected[0] += value;
    expect_equal("sum", sum, expected);
}

}  // namespace

int main(int argc, char** argv) {
    Suite suite(argc, argv);
    for (const int count : {0, 1, 2, 3, 31, 32, 33, 255, 256, 257, 1000, 4097, 32768, 32769, 250007}) {
        suite.test("count " + std::to_string(count), [&](Random& random) {
            test_values(suite, random.integers(count, lowest, highest), random);
            test_values(suite, random.integers(count, -1, 1), random);
        });
    }
    for (const int value : {lowest, highest}) {
        suite.test("all " + std::to_string(value), [&](Random& random) {
            test_values(suite, std::vector<int>(100001, value), random);
        });
    }
    return suite.end();
}
