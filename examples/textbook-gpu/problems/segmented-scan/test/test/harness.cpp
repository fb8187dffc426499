// Tests segmented_scan with segments from one value to the whole array.
#include "harness.h"

using namespace textbook;

namespace {

using Words = std::vector<std::uint32_t>;
using Bytes = std::vector<std::uint8_t>;

Words expected_sums(const Words& values, const Bytes& heads) {
    Words sums;
    for (std::size_t i = 0; i < values.size(); ++i) {
        sums.push_back(i == 0 || heads[i] != 0 ? values[i] : sums.back() + values[i]);
    }
    return sums;
}

// One place in `one_in` is a head; 0 for none.
void test_segments(Suite& suite, int count, int one_in) {
    const auto name = "count " + std::to_string(count) + ", a head in " + std::to_string(one_in);
    suite.test(name, [&](Random& random) {
        const auto values = random.garbage<std::uint32_t>(count);
        Bytes heads(count, 0);
        for (auto& head : heads) {
            if (one_in > 0 && random.between(1, one_in) == 1) head = static_cast<std::uint8_t>(random.between(1, 255));
        }
        auto sums = random.garbage<std::uint32_t>(count);
        suite.call(in("values", values), in("heads", heads), out("sums", sums), count);
        expect_equal("sums", sums, expected_sums(values, heads));
    });
}

}  // namespace

int main(int argc, char** argv) {
    Suite suite(argc, argv);
    for (const int count : {0, 1, 2, 33, 255, 256, 257, 1025, 5000, 100003}) {
        for (const int one_in : {0, 1, 3, 100, 3000}) test_segments(suite, count, one_in);
    }
    return suite.end();
}
