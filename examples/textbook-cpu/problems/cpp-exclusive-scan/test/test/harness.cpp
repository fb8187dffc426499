// Tests exclusive_scan with sizes around those of blocks, and of blocks of blocks.
#include "harness.h"

using namespace textbook;

namespace {

void test_values(Suite& suite, const std::vector<int>& values, Random& random) {
    auto sums = random.garbage<long long>(values.size());
    suite.call(in("values", values), out("sums", sums), static_cast<int>(values.size()));
    std::vector<long long> expected;
    long long sum = 0;
    for (const int value : values) {
        expected.push_back(sum);
        sum += value;
    }
    expect_equal("sums", sums, expected);
}

}  // namespace

int main(int argc, char** argv) {
    Suite suite(argc, argv);
    constexpr int lowest = std::numeric_limits<int>::min(), highest = std::numeric_limits<int>::max();
    for (const int count : {0, 1, 2, 31, 32, 33, 255, 256, 257, 1023, 1024, 1025, 2048, 65536, 65537}) {
        suite.test("count " + std::to_string(count), [&](Random& random) {
            test_values(suite, random.integers(count, lowest, highest), random);
        });
    }
    suite.test("all highest", [&](Random& random) { test_values(suite, std::vector<int>(5000, highest), random); });
    suite.test("many blocks", [&](Random& random) {
        test_values(suite, random.integers((1 << 18) + 300001, lowest, highest), random);
    });
    return suite.end();
}
