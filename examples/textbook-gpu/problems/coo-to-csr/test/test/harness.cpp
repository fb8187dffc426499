// Tests coo_to_csr with shuffled entries, among them matrices with empty and with long rows.
#include <algorithm>
#include <map>
#include <utility>

#include "harness.h"

using namespace textbook;

namespace {

// By row and column, as the result has them.
using Entries = std::map<std::pair<int, int>, std::uint32_t>;

Entries random_entries(Random& random, int count, int row_count, int column_count) {
    Entries entries;
    for (int i = 0; i < count; ++i) {
        const std::pair<int, int> place(random.between(0, row_count - 1), random.between(0, column_count - 1));
        entries[place] = static_cast<std::uint32_t>(random.next());
    }
    return entries;
}

void test_entries(Suite& suite, const Entries& entries, int row_count, Random& random) {
    std::vector<std::pair<std::pair<int, int>, std::uint32_t>> shuffled(entries.begin(), entries.end());
    for (std::size_t i = shuffled.size(); i > 1; --i) std::swap(shuffled[i - 1], shuffled[random.next() % i]);
    std::vector<int> rows, columns, expected_starts(row_count + 1, 0), expected_columns;
    std::vector<std::uint32_t> values, expected_values;
    for (const auto& [place, value] : shuffled) {
        rows.push_back(place.first);
        columns.push_back(place.second);
        values.push_back(value);
    }
    for (const auto& [place, value] : entries) {
        for (int row = place.first + 1; row <= row_count; ++row) ++expected_starts[row];
        expected_columns.push_back(place.second);
        expected_values.push_back(value);
    }
    auto row_starts = random.garbage<int>(row_count + 1), csr_columns = random.garbage<int>(entries.size());
    auto csr_values = random.garbage<std::uint32_t>(entries.size());
    suite.call(in("rows", rows), in("columns", columns), in("values", values), static_cast<int>(entries.size()), row_count,
               out("row_starts", row_starts), out("csr_columns", csr_columns), out("csr_values", csr_values));
    expect_equal("row_starts", row_starts, expected_starts);
    expect_equal("csr_columns", csr_columns, expected_columns);
    expect_equal("csr_values", csr_values, expected_values);
}

}  // namespace

int main(int argc, char** argv) {
    Suite suite(argc, argv);
    const int shapes[][3] = {{0, 0, 1},   {0, 7, 1},     {1, 1, 1},       {2, 1, 5},          {40, 3, 100},   {300, 300, 3},
                             {257, 1, 900}, {1000, 50, 50}, {3000, 700, 2000}, {10000, 1000, 1000000}};
    for (const auto& [count, row_count, column_count] : shapes) {
        const auto name = "up to " + std::to_string(count) + " entries in " + std::to_string(row_count) + " rows";
        suite.test(name, [&, n = count, r = row_count, c = column_count](Random& random) {
            test_entries(suite, random_entries(random, n, r, c), r, random);
        });
    }
    suite.test("entries in the last row only", [&](Random& random) {
        Entries entries;
        for (int column = 0; column < 600; ++column) entries[{999, 3 * column}] = static_cast<std::uint32_t>(column);
        test_entries(suite, entries, 1000, random);
    });
    return suite.end();
}
