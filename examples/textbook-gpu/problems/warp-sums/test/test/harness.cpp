// Tests warp_sums with whole and partial groups.
#include "harness.h"

using namespace textbook;

namespace {

void test_count(Suite& suite, int count) {
    suite.test("count " + std::to_string(count), [&](Random& random) {
        const auto values = random.garbage<unsigned>(count);
        auto sums = random.garbage<unsigned>((count + 31) / 32);
        suite.call(in("values", values), out("sums", sums), count);
        std::vector<unsigned> expected(sums.size(), 0);
        for (int i = 0; i < count; ++i) expected[i / 32] += values[i];
        expect_equal("sums", sums, expected);
    });
}

}  // namespace

int main(int argc, char** argv) {
    Suite suite(argc, argv);
    for (const int count : {0, 1, 2, 31, 32, 33, 63, 64, 65, 255, 256, 257, 1000, 4096, 100003}) test_count(suite, count);
    return suite.end();
}
