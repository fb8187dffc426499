// Tests and times spmv_csr.
#include <algorithm>
#include "podium_bench.cuh"

// Repeated from the context on purpose: the harness includes nothing that a solution may replace.
void spmv_csr(const int* row_starts, const int* columns, const float* values, const float* x, float* y, int row_count,
              int column_count, int entry_count);

namespace {

using podium::Buffer;

// A sum may be off by this part of the sum of its terms' sizes.
constexpr double relative = 2e-5;

// ---- Tests ---------------------------------------------------------------------------------------------------------

struct Matrix {
    std::vector<int> row_starts{0}, columns;
    std::vector<float> values;
    int column_count;

    Matrix(podium::Random& random, const std::vector<int>& row_lengths, int column_count) : column_count(column_count) {
        for (const int length : row_lengths) {
            for (int i = 0; i < length; ++i) {
                columns.push_back(random.between(0, column_count - 1));
                values.push_back(random.uniform(-1.0f, 1.0f));
            }
            row_starts.push_back(static_cast<int>(columns.size()));
        }
    }
    int row_count() const { return static_cast<int>(row_starts.size()) - 1; }
    int entry_count() const { return static_cast<int>(columns.size()); }
};

void expect_product(const Matrix& matrix, const std::vector<float>& x, const std::vector<float>& y, const char* kind) {
    for (int row = 0; row < matrix.row_count(); ++row) {
        double sum = 0, size = 0;
        for (int e = matrix.row_starts[row]; e < matrix.row_starts[row + 1]; ++e) {
            const double term = static_cast<double>(matrix.values[e]) * x[matrix.columns[e]];
            sum += term;
            size += std::fabs(term);
        }
        if (!podium::is_close(y[row], sum, 0, relative * size)) {
            podium::fail("%s: y[%d] is %.9g, not %.9g; %d rows, %d entries", kind, row, y[row], sum,
                         matrix.row_count(), matrix.entry_count());
        }
    }
}

void test_matrix(const Matrix& matrix, const std::vector<float>& x, const char* kind) {
    const Buffer<int> row_starts(matrix.row_starts), columns(matrix.columns);
    const Buffer<float> values(matrix.values), x_device(x), y(matrix.row_count());
    spmv_csr(row_starts.data(), columns.data(), values.data(), x_device.data(), y.data(), matrix.row_count(),
             matrix.column_count, matrix.entry_count());
    podium::finish("spmv_csr");
    expect_product(matrix, x, y.download(), kind);
    y.expect_guards("y");
    row_starts.expect_unchanged(matrix.row_starts, "row_starts");
    columns.expect_unchanged(matrix.columns, "columns");
    values.expect_unchanged(matrix.values, "values");
    x_device.expect_unchanged(x, "x");
}

void test_lengths(podium::Random& random, const std::vector<int>& row_lengths, int column_count, const char* kind) {
    // No row has more entries than the matrix has columns: cuSPARSE takes no matrix with more entries than places.
    for (const int length : row_lengths) column_count = std::max(column_count, length);
    const Matrix matrix(random, row_lengths, column_count);
    test_matrix(matrix, random.floats(column_count, -1.0f, 1.0f), kind);
}

std::vector<int> lengths(podium::Random& random, int count, int least, int most) {
    std::vector<int> drawn(count);
    for (int& length : drawn) length = random.between(least, most);
    return drawn;
}

void tests() {
    podium::Random random(podium::fresh_seed());
    test_lengths(random, {1}, 1, "one entry");
    test_lengths(random, {0}, 5, "no entry");
    test_lengths(random, std::vector<int>(1000, 0), 7, "empty rows alone");
    test_lengths(random, {0, 3, 0, 0, 2, 0}, 4, "empty rows at both ends");
    test_lengths(random, {100000}, 100000, "one long row");
    for (const int count : {2, 31, 32, 33, 255, 256, 257, 1000, 4097, 30011}) {
        test_lengths(random, lengths(random, count, 0, 64), count, "rows of 0 to 64 entries");
        test_lengths(random, lengths(random, count, 1, 3), 2 * count + 1, "short rows");
    }
    std::vector<int> skewed = lengths(random, 5000, 0, 4);
    skewed[0] = 20000;
    skewed[2500] = 1025;
    skewed[4999] = 33333;
    test_lengths(random, skewed, 40000, "a few long rows");
    for (const int length : {31, 32, 33, 64, 65, 127, 128, 129, 1023, 1024, 2048, 2049}) {
        test_lengths(random, std::vector<int>(70, length), 500, "rows of one length");
    }
    test_lengths(random, lengths(random, 3, 5000, 9000), 9000, "a few dense rows");
    test_lengths(random, lengths(random, 5000, 0, 1), 1, "one column");
    // Sums of small whole numbers: exact whatever the order.
    Matrix whole(random, lengths(random, 2000, 0, 200), 300);
    for (float& value : whole.values) value = static_cast<float>(random.between(-3, 3));
    test_matrix(whole, std::vector<float>(300, 1.0f), "whole numbers");
    for (int round = 0; round < 10; ++round) {
        const int count = random.between(1, 5000);
        test_lengths(random, lengths(random, count, 0, random.between(0, 100)), random.between(1, 5000), "random");
    }
}

// ---- Benchmark -----------------------------------------------------------------------------------------------------

// Two rows share 64 entries; where the first one ends is drawn.
constexpr int pair_entries = 64;
constexpr int rows = 1 << 20, entries = rows / 2 * pair_entries, reach = 2048;

__host__ __device__ int first_length(std::uint64_t seed, std::size_t pair) {
    return static_cast<int>((podium::random_bits(seed, pair) >> 33) % (pair_entries + 1));
}

struct RowStart {
    std::uint64_t seed;
    __device__ int operator()(std::size_t row) const {
        const std::size_t pair = row / 2;
        return static_cast<int>(pair) * pair_entries + (row % 2 ? first_length(seed, pair) : 0);
    }
};

struct Column {
    std::uint64_t row_seed, seed;
    __device__ int operator()(std::size_t entry) const {
        const std::size_t pair = entry / pair_entries;
        const bool second = static_cast<int>(entry % pair_entries) >= first_length(row_seed, pair);
        const int row = static_cast<int>(2 * pair) + second;
        const int offset = static_cast<int>((podium::random_bits(seed, entry) >> 33) % (2 * reach)) - reach;
        return (row + offset) & (rows - 1);
    }
};

struct Inputs {
    Buffer<int> row_starts{rows + 1}, columns{entries};
    Buffer<float> values{entries}, x{rows};
    void make(std::uint64_t seed) {
        podium::fill(row_starts.data(), row_starts.size(), RowStart{podium::mix(seed + 1)});
        podium::fill(columns.data(), columns.size(), Column{podium::mix(seed + 1), podium::mix(seed + 2)});
        podium::fill_uniform(values, podium::mix(seed + 3), -1.0f, 1.0f);
        podium::fill_uniform(x, podium::mix(seed + 4), -1.0f, 1.0f);
    }
};

struct RightRow {
    const int* row_starts;
    const int* columns;
    const float* values;
    const float* x;
    const float* y;
    __device__ bool operator()(std::size_t row) const {
        double sum = 0, size = 0;
        for (int e = row_starts[row]; e < row_starts[row + 1]; ++e) {
            const double term = static_cast<double>(values[e]) * x[columns[e]];
            sum += term;
            size += fabs(term);
        }
        return podium::is_close(y[row], sum, 0, relative * size);
    }
};

void benchmark() {
    Inputs inputs, again;
    Buffer<float> y(rows), kept(rows);
    podium::CacheFlush flush;
    std::uint64_t seed = 0;
    podium::benchmark(
        [&](std::uint64_t fresh) {
            seed = fresh;
            inputs.make(seed);
            y.poison();
            flush();
        },
        [&] {
            spmv_csr(inputs.row_starts.data(), inputs.columns.data(), inputs.values.data(), inputs.x.data(), y.data(),
                     rows, rows, entries);
        },
        [&] { kept.copy_from(y); },
        [&] {
            again.make(seed);
            podium::expect_equal(inputs.row_starts, again.row_starts, "row_starts after the call");
            podium::expect_equal(inputs.columns, again.columns, "columns after the call");
            podium::expect_equal(inputs.values, again.values, "values after the call");
            podium::expect_equal(inputs.x, again.x, "x after the call");
            podium::expect_all(rows, RightRow{again.row_starts.data(), again.columns.data(), again.values.data(),
                                              again.x.data(), kept.data()},
                               "y");
        });
    y.expect_guards("y");
}

}  // namespace

int main(int argc, char** argv) {
    podium::wants_benchmark(argc, argv) ? benchmark() : tests();
    return 0;
}
