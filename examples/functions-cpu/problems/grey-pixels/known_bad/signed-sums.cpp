#include <cstddef>
#include <cstdint>

extern "C" void solution(const uint8_t* pixels, uint8_t* grey, size_t height, size_t width) {
    for (size_t at = 0; at < height * width; ++at) {
        const int16_t sum = int16_t(77 * pixels[3 * at] + 150 * pixels[3 * at + 1] + 29 * pixels[3 * at + 2] + 128);
        grey[at] = uint8_t(sum / 256);
    }
}
