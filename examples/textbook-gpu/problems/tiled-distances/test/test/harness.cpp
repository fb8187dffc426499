// Tests tiled_distances with numbers of points and dimensions around those of tiles.
#include "harness.h"

using namespace textbook;

namespace {

std::vector<float> points(Random& random, int count, int dimensions) {
    std::vector<float> values(static_cast<std::size_t>(count) * dimensions);
    for (float& value : values) value = static_cast<float>(random.between(-50, 50));
    return values;
}

float squared_distance(const float* left, const float* right, int dimensions) {
    float sum = 0.0f;
    for (int k = 0; k < dimensions; ++k) sum += (left[k] - right[k]) * (left[k] - right[k]);
    return sum;
}

void test_counts(Suite& suite, int first_count, int second_count, int dimensions) {
    const auto name = std::to_string(first_count) + " and " + std::to_string(second_count) + " points of " +
                      std::to_string(dimensions) + " dimensions";
    suite.test(name, [&](Random& random) {
        const auto first = points(random, first_count, dimensions), second = points(random, second_count, dimensions);
        auto distances = random.garbage<float>(static_cast<std::size_t>(first_count) * second_count);
        suite.call(in("first", first), in("second", second), out("distances", distances), first_count, second_count,
                   dimensions);
        std::vector<float> expected;
        for (int i = 0; i < first_count; ++i) {
            for (int j = 0; j < second_count; ++j) {
                expected.push_back(squared_distance(&first[i * dimensions], &second[j * dimensions], dimensions));
            }
        }
        expect_equal("distances", distances, expected);
    });
}

}  // namespace

int main(int argc, char** argv) {
    Suite suite(argc, argv);
    const int shapes[][3] = {{0, 5, 3},   {5, 0, 3},    {1, 1, 1},    {1, 1, 256},   {16, 16, 16},  {15, 17, 16}, {17, 15, 17},
                             {33, 31, 2}, {64, 64, 15}, {100, 3, 70}, {3, 4096, 3}, {4096, 2, 5}, {130, 120, 33}};
    for (const auto& [first, second, dimensions] : shapes) test_counts(suite, first, second, dimensions);
    return suite.end();
}
