// Tests weighted_histogram with weights whose sums need more than 32 bits.
#include "harness.h"

using namespace textbook;

namespace {

void test_keys(Suite& suite, const std::vector<std::uint8_t>& keys, Random& random) {
    const auto weights = random.garbage<std::uint32_t>(keys.size());
    auto sums = random.garbage<unsigned long long>(256);
    suite.call(in("keys", keys), in("weights", weights), static_cast<int>(keys.size()), out("sums", sums));
    std::vector<unsigned long long> expected(256, 0);
    for (std::size_t i = 0; i < keys.size(); ++i) expected[keys[i]] += weights[i];
    expect_equal("sums", sums, expected);
}

}  // namespace

int main(int argc, char** argv) {
    Suite suite(argc, argv);
    for (const int count : {0, 1, 31, 255, 256, 257, 1000, 70001, 250007}) {
        suite.test("count " + std::to_string(count), [&](Random& random) {
            test_keys(suite, random.garbage<std::uint8_t>(count), random);
        });
    }
    for (const int key : {0, 255}) {
        suite.test("key " + std::to_string(key) + " only", [&](Random& random) {
            test_keys(suite, std::vector<std::uint8_t>(100003, static_cast<std::uint8_t>(key)), random);
        });
    }
    return suite.end();
}
