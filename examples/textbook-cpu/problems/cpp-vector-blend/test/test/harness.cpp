// Tests vector_blend with sizes around those of blocks.
#include "harness.h"

using namespace textbook;

namespace {

void test_count(Suite& suite, int count) {
    suite.test("count " + std::to_string(count), [&](Random& random) {
        const auto x = random.floats(count, -1.0f, 1.0f), y = random.floats(count, -1.0f, 1.0f);
        const float a = random.uniform(-2.0f, 2.0f), b = random.uniform(-2.0f, 2.0f);
        auto blend = random.garbage<float>(count);
        suite.call(in("x", x), in("y", y), a, b, out("blend", blend), count);
        std::vector<double> expected(count);
        for (int i = 0; i < count; ++i) expected[i] = static_cast<double>(a) * x[i] + static_cast<double>(b) * y[i];
        expect_close("blend", blend, expected, 0.0, 1e-6);
    });
}

}  // namespace

int main(int argc, char** argv) {
    Suite suite(argc, argv);
    for (const int count : {0, 1, 2, 31, 32, 33, 100, 255, 256, 257, 1000, 1023, 1024, 1025, 65537, 262144, 300007}) {
        test_count(suite, count);
    }
    return suite.end();
}
