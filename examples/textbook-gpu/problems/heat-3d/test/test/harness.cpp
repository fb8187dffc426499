// Tests heat_3d with boxes that have an inside and boxes that have none.
#include "harness.h"

using namespace textbook;

namespace {

struct Box {
    int nx, ny, nz;

    std::size_t cells() const { return static_cast<std::size_t>(nx) * ny * nz; }
};

std::vector<double> after_a_step(const Box& box, const std::vector<double>& before, double rate) {
    std::vector<double> after = before;
    const std::size_t row = box.nx, layer = row * box.ny;
    for (int z = 1; z < box.nz - 1; ++z) {
        for (int y = 1; y < box.ny - 1; ++y) {
            for (int x = 1; x < box.nx - 1; ++x) {
                const std::size_t i = z * layer + y * row + x;
                const double sum = before[i - 1] + before[i + 1] + before[i - row] + before[i + row] + before[i - layer] +
                                   before[i + layer];
                after[i] = before[i] + rate * (sum - 6 * before[i]);
            }
        }
    }
    return after;
}

void test_box(Suite& suite, const Box& box, int steps) {
    const auto name = std::to_string(box.nx) + " x " + std::to_string(box.ny) + " x " + std::to_string(box.nz) + ", " +
                      std::to_string(steps) + " steps";
    suite.test(name, [&](Random& random) {
        const auto start = random.floats(box.cells(), -1.0f, 1.0f);
        const float rate = random.uniform(0.05f, 0.16f);
        auto end = random.garbage<float>(start.size());
        suite.call(in("start", start), out("end", end), box.nx, box.ny, box.nz, rate, steps);
        std::vector<double> expected(start.begin(), start.end());
        for (int i = 0; i < steps; ++i) expected = after_a_step(box, expected, rate);
        expect_close("end", end, expected, 0.0, 1e-5);
    });
}

}  // namespace

int main(int argc, char** argv) {
    Suite suite(argc, argv);
    const Box boxes[] = {{1, 1, 1},  {2, 2, 2},  {3, 3, 3},  {3, 4, 5},    {9, 1, 7},   {1, 9, 9},   {10, 10, 2},
                         {16, 8, 4}, {17, 9, 5}, {31, 7, 3}, {5, 6, 100}, {33, 20, 11}, {300, 3, 3}, {3, 300, 3}};
    for (const Box& box : boxes) {
        for (const int steps : {0, 1, 2, 7}) test_box(suite, box, steps);
    }
    test_box(suite, {20, 20, 20}, 20);
    return suite.end();
}
