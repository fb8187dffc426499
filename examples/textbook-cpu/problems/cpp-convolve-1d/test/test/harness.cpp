// Tests convolve_1d with short and long signals and filters.
#include "harness.h"

using namespace textbook;

namespace {

std::vector<float> small_integers(Random& random, int size) {
    std::vector<float> values(size);
    for (float& value : values) value = static_cast<float>(random.between(-8, 8));
    return values;
}

// By spreading each value of the signal.
std::vector<float> expected_result(const std::vector<float>& signal, const std::vector<float>& weights, int radius) {
    const int count = static_cast<int>(signal.size());
    std::vector<float> result(count, 0.0f);
    for (int place = 0; place < count; ++place) {
        for (int j = 0; j <= 2 * radius; ++j) {
            const int i = place - radius + j;
            if (i >= 0 && i < count) result[i] += weights[j] * signal[place];
        }
    }
    return result;
}

void test_sizes(Suite& suite, int count, int radius) {
    suite.test("count " + std::to_string(count) + ", radius " + std::to_string(radius), [&](Random& random) {
        const auto signal = small_integers(random, count), weights = small_integers(random, 2 * radius + 1);
        auto result = random.garbage<float>(count);
        suite.call(in("signal", signal), in("weights", weights), out("result", result), count, radius);
        expect_equal("result", result, expected_result(signal, weights, radius));
    });
}

}  // namespace

int main(int argc, char** argv) {
    Suite suite(argc, argv);
    for (const int count : {0, 1, 2, 30, 62, 63, 64, 255, 257, 1000, 20011}) {
        for (const int radius : {0, 1, 4, 31}) test_sizes(suite, count, radius);
    }
    return suite.end();
}
