// Tests box_blur against a table of sums.
#include <algorithm>

#include "harness.h"

using namespace textbook;

namespace {

using Bytes = std::vector<std::uint8_t>;

// sums[(y, x)] = sum of all pixels above and left of (y, x); one row and one column more than the image.
std::vector<int> area_sums(const Bytes& image, int width, int height) {
    std::vector<int> sums(static_cast<std::size_t>(width + 1) * (height + 1));
    for (int y = 0; y < height; ++y) {
        int row = 0;
        for (int x = 0; x < width; ++x) {
            row += image[static_cast<std::size_t>(y) * width + x];
            sums[(y + 1) * (width + 1) + x + 1] = sums[y * (width + 1) + x + 1] + row;
        }
    }
    return sums;
}

Bytes expected_blur(const Bytes& image, int width, int height, int radius) {
    const auto sums = area_sums(image, width, height);
    const auto sum_at = [&](int y, int x) { return sums[y * (width + 1) + x]; };
    Bytes blurred(image.size());
    for (int y = 0; y < height; ++y) {
        const int top = std::max(0, y - radius), bottom = std::min(height, y + radius + 1);
        for (int x = 0; x < width; ++x) {
            const int left = std::max(0, x - radius), right = std::min(width, x + radius + 1);
            const int sum = sum_at(bottom, right) - sum_at(top, right) - sum_at(bottom, left) + sum_at(top, left);
            const int pixels = (bottom - top) * (right - left);
            blurred[static_cast<std::size_t>(y) * width + x] = static_cast<std::uint8_t>((2 * sum + pixels) / (2 * pixels));
        }
    }
    return blurred;
}

void test_image(Suite& suite, int width, int height, int radius) {
    const auto name = std::to_string(width) + " x " + std::to_string(height) + ", radius " + std::to_string(radius);
    suite.test(name, [&](Random& random) {
        Bytes image(static_cast<std::size_t>(width) * height);
        random.fill(image);
        auto blurred = random.garbage<std::uint8_t>(image.size());
        suite.call(in("image", image), out("blurred", blurred), width, height, radius);
        expect_equal("blurred", blurred, expected_blur(image, width, height, radius));
    });
}

}  // namespace

int main(int argc, char** argv) {
    Suite suite(argc, argv);
    const int shapes[][2] = {{0, 0}, {0, 3}, {1, 1}, {1, 40}, {40, 1}, {16, 16}, {31, 33}, {65, 7}, {150, 101}};
    for (const auto& [width, height] : shapes) {
        for (const int radius : {0, 1, 2, 5, 16}) test_image(suite, width, height, radius);
    }
    test_image(suite, 4096, 9, 3);
    test_image(suite, 9, 4096, 3);
    return suite.end();
}
