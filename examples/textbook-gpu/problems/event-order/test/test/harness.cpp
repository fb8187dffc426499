// Tests event_order with a first stream that is held up until the function has returned.
#include "harness.h"

using namespace textbook;

namespace {

void test_count(Suite& suite, int count) {
    suite.test("count " + std::to_string(count), [&](Random& random) {
        const auto input = random.integers(count, -1000000, 1000000);
        auto middle = random.garbage<int>(count), output = random.garbage<int>(count);
        suite.call(in("input", input), out("middle", middle), out("output", output), count);
        std::vector<int> expected_middle, expected_output;
        for (int i = 0; i < count; ++i) expected_middle.push_back(3 * input[i] + 1);
        for (int i = 0; i < count; ++i) expected_output.push_back(expected_middle[count - 1 - i] - i);
        expect_equal("middle", middle, expected_middle);
        expect_equal("output", output, expected_output);
    });
}

}  // namespace

int main(int argc, char** argv) {
    Suite suite(argc, argv);
    for (const int count : {1, 2, 255, 256, 257, 5000, 100003}) test_count(suite, count);
    return suite.end();
}
