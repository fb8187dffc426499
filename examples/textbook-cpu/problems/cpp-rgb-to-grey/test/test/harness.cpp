// Tests rgb_to_grey with images of odd shapes and rows with room behind them.
#include "harness.h"

using namespace textbook;

namespace {

using Bytes = std::vector<std::uint8_t>;

Bytes expected_grey(const Bytes& rgb, const Bytes& before, int width, int height, int stride) {
    Bytes grey = before;
    for (int y = 0; y < height; ++y) {
        for (int x = 0; x < width; ++x) {
            const std::uint8_t* pixel = &rgb[3 * (static_cast<std::size_t>(y) * width + x)];
            const int sum = 77 * pixel[0] + 150 * pixel[1] + 29 * pixel[2] + 128;
            grey[static_cast<std::size_t>(y) * stride + x] = static_cast<std::uint8_t>(sum / 256);
        }
    }
    return grey;
}

void test_shape(Suite& suite, int width, int height, int room) {
    suite.test(std::to_string(width) + " x " + std::to_string(height), [&](Random& random) {
        Bytes rgb(static_cast<std::size_t>(3) * width * height);
        random.fill(rgb);
        const int stride = width + room;
        auto grey = random.garbage<std::uint8_t>(static_cast<std::size_t>(height) * stride);
        const Bytes expected = expected_grey(rgb, grey, width, height, stride);
        suite.call(in("rgb", rgb), out("grey", grey), width, height, stride);
        expect_equal("grey", grey, expected);
    });
}

}  // namespace

int main(int argc, char** argv) {
    Suite suite(argc, argv);
    const int shapes[][3] = {{0, 0, 0},   {0, 5, 3},    {5, 0, 0},   {1, 1, 0},    {1, 1, 7},       {16, 16, 0},    {15, 17, 0},
                             {17, 15, 5}, {33, 31, 31}, {640, 3, 0}, {3, 640, 13}, {501, 307, 11}, {100000, 2, 1}, {2, 100000, 1}};
    for (const auto& [width, height, room] : shapes) test_shape(suite, width, height, room);
    return suite.end();
}
