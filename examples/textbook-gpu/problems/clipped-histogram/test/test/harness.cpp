// Tests clipped_histogram with few and many bins, and with values that stray a little from the range.
#include "harness.h"

using namespace textbook;

namespace {

constexpr int stray = 900;  // so little that a solution without a check writes into a guard

void test_values(Suite& suite, const std::string& name, int bin_count, const std::vector<int>& values, Random& random) {
    auto bins = random.garbage<unsigned>(bin_count);
    suite.call(in("values", values), static_cast<int>(values.size()), out("bins", bins), bin_count);
    std::vector<unsigned> expected(bin_count, 0);
    for (const int value : values) {
        if (value >= 0 && value < bin_count) ++expected[value];
    }
    expect_equal(name.c_str(), bins, expected);
}

void test_count(Suite& suite, int count, int bin_count) {
    suite.test(std::to_string(count) + " values, " + std::to_string(bin_count) + " bins", [&](Random& random) {
        test_values(suite, "bins", bin_count, random.integers(count, -stray, bin_count + stray), random);
        test_values(suite, "bins", bin_count, random.integers(count, 0, bin_count - 1), random);
    });
}

}  // namespace

int main(int argc, char** argv) {
    Suite suite(argc, argv);
    for (const int count : {0, 1, 255, 256, 257, 5000, 150001}) {
        for (const int bin_count : {1, 2, 256, 1000, 20000}) test_count(suite, count, bin_count);
    }
    suite.test("one value only", [&](Random& random) {
        test_values(suite, "bins", 100, std::vector<int>(200000, 99), random);
    });
    return suite.end();
}
