// Tests records_to_columns with records of random bits.
#include "harness.h"

using namespace textbook;

namespace {

struct Record {
    std::uint32_t x, y, z, flags;
};

void test_count(Suite& suite, int count) {
    suite.test("count " + std::to_string(count), [&](Random& random) {
        const auto records = random.garbage<Record>(count);
        auto x = random.garbage<std::uint32_t>(count), y = x, z = x;
        auto live = random.garbage<std::uint8_t>(count);
        suite.call(in("records", records), count, out("x", x), out("y", y), out("z", z), out("live", live));
        for (int i = 0; i < count; ++i) {
            const Record& record = records[i];
            if (x[i] != record.x || y[i] != record.y || z[i] != record.z) fail("record %d has other coordinates", i);
            if (live[i] != (record.flags & 1)) fail("live[%d] is %d", i, live[i]);
        }
    });
}

}  // namespace

int main(int argc, char** argv) {
    Suite suite(argc, argv);
    for (const int count : {0, 1, 2, 31, 33, 255, 256, 257, 1023, 4097, 100003}) test_count(suite, count);
    return suite.end();
}
