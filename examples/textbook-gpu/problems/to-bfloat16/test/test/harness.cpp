// Tests to_bfloat16 with ties, the largest and the smallest numbers, infinities and NaN.
#include "harness.h"

using namespace textbook;

namespace {

using Words = std::vector<std::uint32_t>;

// By comparing what is cut off with half of the last place.
std::uint16_t expected_of(std::uint32_t value) {
    if ((value & 0x7fffffff) > 0x7f800000) return 0x7fc0;
    const std::uint32_t kept = value >> 16, cut = value & 0xffff;
    const bool goes_up = cut > 0x8000 || (cut == 0x8000 && kept % 2 == 1);
    return static_cast<std::uint16_t>(kept + (goes_up ? 1 : 0));
}

void test_bits(Suite& suite, const Words& bits, Random& random) {
    auto rounded = random.garbage<std::uint16_t>(bits.size());
    suite.call(in("bits", bits), out("rounded", rounded), static_cast<int>(bits.size()));
    std::vector<std::uint16_t> expected;
    for (const std::uint32_t value : bits) expected.push_back(expected_of(value));
    expect_equal("rounded", rounded, expected);
}

// Every sign and exponent, with fractions about ties and ends.
Words odd_bits() {
    Words bits;
    for (std::uint32_t top = 0; top < 512; ++top) {
        for (const std::uint32_t fraction : {0x0u, 0x1u, 0x7fffu, 0x8000u, 0x8001u, 0xffffu, 0x17fffu, 0x18000u, 0x18001u,
                                             0x400000u, 0x7f7fffu, 0x7f8000u, 0x7fffffu}) {
            bits.push_back(top << 23 | fraction);
        }
    }
    return bits;
}

}  // namespace

int main(int argc, char** argv) {
    Suite suite(argc, argv);
    for (const int count : {0, 1, 2, 31, 33, 255, 256, 257, 1000, 100003}) {
        suite.test("count " + std::to_string(count), [&](Random& random) {
            test_bits(suite, random.garbage<std::uint32_t>(count), random);
        });
    }
    suite.test("ties and ends", [&](Random& random) { test_bits(suite, odd_bits(), random); });
    return suite.end();
}
