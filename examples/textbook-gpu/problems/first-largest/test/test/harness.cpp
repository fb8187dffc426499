// Tests first_largest with ties, infinities and NaN.
#include "harness.h"

using namespace textbook;

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();

int expected_place(const std::vector<float>& values) {
    int place = -1;
    for (int i = 0; i < static_cast<int>(values.size()); ++i) {
        const bool counts = values[i] == values[i];
        if (counts && (place < 0 || values[i] > values[place])) place = i;
    }
    return place;
}

void test_values(Suite& suite, const std::vector<float>& values, Random& random) {
    auto place = random.garbage<int>(1);
    suite.call(in("values", values), static_cast<int>(values.size()), out("place", place));
    expect_equal("place", place, {expected_place(values)});
}

// Few different values, so that the largest occurs often.
std::vector<float> few_values(Random& random, int count) {
    std::vector<float> values(count);
    for (float& value : values) value = static_cast<float>(random.between(-20, -3));
    return values;
}

std::vector<float> with_nan(Random& random, int count) {
    auto values = few_values(random, count);
    for (float& value : values) {
        if (random.between(0, 2) == 0) value = not_a_number;
    }
    return values;
}

}  // namespace

int main(int argc, char** argv) {
    Suite suite(argc, argv);
    for (const int count : {0, 1, 2, 3, 31, 32, 33, 255, 256, 257, 1000, 65537, 200003}) {
        suite.test("count " + std::to_string(count), [&](Random& random) {
            test_values(suite, random.floats(count, -1.0f, 1.0f), random);
            test_values(suite, few_values(random, count), random);
            test_values(suite, with_nan(random, count), random);
        });
    }
    suite.test("only NaN", [&](Random& random) { test_values(suite, std::vector<float>(700, not_a_number), random); });
    suite.test("only -infinity", [&](Random& random) { test_values(suite, std::vector<float>(700, -infinity), random); });
    suite.test("zeros of both signs", [&](Random& random) {
        std::vector<float> values(700, -0.0f);
        values[300] = 0.0f;
        test_values(suite, values, random);
    });
    suite.test("last of many", [&](Random& random) {
        auto values = random.floats(70001, -1.0f, 1.0f);
        values.front() = not_a_number;
        values.back() = infinity;
        test_values(suite, values, random);
    });
    return suite.end();
}
