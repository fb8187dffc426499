// Tests and times filter5x5. `./harness` tests many shapes; `./harness benchmark` filters two megapixels.
#include <algorithm>
#include <limits>
#include <vector>

#include "support.h"

// Repeated from the context on purpose: the harness includes nothing that a solution may replace.
void filter5x5(const float* image, int width, int height, const float* weights, float* out);

namespace {

constexpr int guard = 64;
constexpr float guard_value = 12345.0f;

struct Case {
    int width, height;
    std::vector<float> image, weights;
};

// Integers throughout: every sum is exact in a float, so that results are compared bit for bit.
Case random_case(Random& random, int width, int height) {
    Case made{width, height, std::vector<float>(width * height), std::vector<float>(25)};
    for (float& pixel : made.image) pixel = static_cast<float>(static_cast<int>(random.next() >> 55) - 256);
    for (float& weight : made.weights) weight = static_cast<float>(random.between(-9, 9));
    return made;
}

float pixel_of(const Case& c, int x, int y) {
    float sum = 0.0f;
    for (int dy = -2; dy <= 2; ++dy) {
        for (int dx = -2; dx <= 2; ++dx) {
            const int row = std::clamp(y + dy, 0, c.height - 1), column = std::clamp(x + dx, 0, c.width - 1);
            sum += c.weights[(dy + 2) * 5 + dx + 2] * c.image[row * c.width + column];
        }
    }
    return sum;
}

// NaN first, so that a pixel left out cannot pass.
std::vector<float> filtered(const Case& c) {
    std::vector<float> out(c.image.size() + guard, std::numeric_limits<float>::quiet_NaN());
    std::fill(out.end() - guard, out.end(), guard_value);
    filter5x5(c.image.data(), c.width, c.height, c.weights.data(), out.data());
    return out;
}

// Every `stride`-th pixel from `first` on.
bool pixels_hold(const Case& c, const std::vector<float>& out, int first, int stride) {
    for (int i = first; i < c.width * c.height; i += stride) {
        const float expected = pixel_of(c, i % c.width, i / c.width);
        if (out[i] != expected) {
            std::fprintf(stderr, "FAILED: %dx%d: out[%d][%d] is %g, not %g\n", c.width, c.height, i / c.width,
                         i % c.width, static_cast<double>(out[i]), static_cast<double>(expected));
            return false;
        }
    }
    const bool untouched = std::all_of(out.end() - guard, out.end(), [](float v) { return v == guard_value; });
    return untouched || failed("wrote behind the end of out");
}

bool case_passes(const Case& given) {
    const Case kept = given;
    const auto out = filtered(given);
    const bool unchanged = given.image == kept.image && given.weights == kept.weights;
    return pixels_hold(kept, out, 0, 1) && (unchanged || failed("changed its inputs"));
}

bool tests() {
    Random random(fresh_seed());
    for (int height = 1; height <= 9; ++height) {
        for (int width = 1; width <= 21; ++width) {
            if (!case_passes(random_case(random, width, height))) return false;
        }
    }
    const int shapes[][2] = {{1, 300}, {300, 1}, {2, 97}, {97, 3}, {64, 64}, {129, 65}, {33, 200}, {255, 31}};
    for (const auto& [width, height] : shapes) {
        if (!case_passes(random_case(random, width, height))) return false;
    }
    return true;
}

// The residue is drawn after the call, so that no pixel can be left out in the hope that nobody looks.
bool benchmark() {
    Random random(fresh_seed());
    const Case given = random_case(random, 1440, 1440);
    const Case kept = given;
    const auto out = filtered(given);
    constexpr int stride = 11;
    return pixels_hold(kept, out, static_cast<int>(fresh_seed() % stride), stride);
}

}  // namespace

int main(int argc, char**) {
    return (argc > 1 ? benchmark() : tests()) ? 0 : 1;
}
