// Tests work_in_stream with values that are there only after the function has returned.
#include "harness.h"

using namespace textbook;

namespace {

void test_count(Suite& suite, int count) {
    suite.test("count " + std::to_string(count), [&](Random& random) {
        const auto values = random.integers(count, -1000, 1000);
        auto scaled = random.garbage<int>(count), positives = random.garbage<int>(1);
        suite.call(in("values", values), out("scaled", scaled), out("positives", positives), count);
        int found = 0;
        for (const int value : values) found += value > 0 ? 1 : 0;
        std::vector<int> expected;
        for (const int value : values) expected.push_back(value * found);
        expect_equal("positives", positives, {found});
        expect_equal("scaled", scaled, expected);
    });
}

}  // namespace

int main(int argc, char** argv) {
    Suite suite(argc, argv);
    for (const int count : {0, 1, 2, 255, 256, 257, 5000, 100003}) test_count(suite, count);
    return suite.end();
}
