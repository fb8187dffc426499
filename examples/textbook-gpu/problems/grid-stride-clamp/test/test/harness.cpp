// Tests grid_stride_clamp with grids that are smaller and larger than the array.
#include "harness.h"

using namespace textbook;

namespace {

std::vector<float> mixed_values(Random& random, int count) {
    constexpr float infinity = std::numeric_limits<float>::infinity();
    auto values = random.floats(count, -4.0f, 4.0f);
    for (int i = 0; i < count; i += 97) values[i] = random.between(0, 1) == 0 ? infinity : -infinity;
    return values;
}

void test_grid(Suite& suite, int count, int blocks, int threads) {
    const auto name = std::to_string(count) + " values, " + std::to_string(blocks) + " blocks of " + std::to_string(threads);
    suite.test(name, [&](Random& random) {
        const auto values = mixed_values(random, count);
        const float low = random.uniform(-2.0f, 0.0f), high = random.uniform(low, 2.0f);
        auto clamped = random.garbage<float>(count);
        suite.call(in("values", values), out("clamped", clamped), count, low, high, blocks, threads);
        std::vector<float> expected(values);
        for (float& value : expected) value = value < low ? low : value > high ? high : value;
        expect_equal("clamped", clamped, expected);
    });
}

}  // namespace

int main(int argc, char** argv) {
    Suite suite(argc, argv);
    for (const int count : {0, 1, 63, 64, 65, 1000, 4099}) {
        test_grid(suite, count, 1, 1);
        test_grid(suite, count, 1, 64);
        test_grid(suite, count, 7, 33);
        test_grid(suite, count, 20, 1024);
    }
    test_grid(suite, 1, 1000, 3);
    test_grid(suite, 200003, 100, 100);
    test_grid(suite, 300007, 1201, 256);
    test_grid(suite, 5, 65536, 1);
    return suite.end();
}
