// Tests pack_bits with whole and partial words, and with NaN.
#include "harness.h"

using namespace textbook;

namespace {

// Some values are special, and some equal the threshold.
std::vector<float> odd_values(Random& random, int count, float threshold) {
    constexpr float infinity = std::numeric_limits<float>::infinity();
    const float special[] = {infinity, -infinity, std::numeric_limits<float>::quiet_NaN(), threshold};
    auto values = random.floats(count, -2.0f, 2.0f);
    for (float& value : values) {
        if (random.between(0, 3) == 0) value = special[random.between(0, 3)];
    }
    return values;
}

void test_count(Suite& suite, int count) {
    suite.test("count " + std::to_string(count), [&](Random& random) {
        const float threshold = random.uniform(-1.0f, 1.0f);
        const auto values = odd_values(random, count, threshold);
        auto words = random.garbage<unsigned>((count + 31) / 32);
        suite.call(in("values", values), threshold, out("words", words), count);
        std::vector<unsigned> expected(words.size(), 0);
        for (int i = 0; i < count; ++i) expected[i / 32] |= (values[i] > threshold ? 1u : 0u) << (i % 32);
        expect_equal("words", words, expected);
    });
}

}  // namespace

int main(int argc, char** argv) {
    Suite suite(argc, argv);
    for (const int count : {0, 1, 2, 31, 32, 33, 63, 64, 65, 255, 256, 257, 1000, 4096, 100003}) test_count(suite, count);
    return suite.end();
}
