// Tests and times matmul. `./harness` tests many shapes; `./harness benchmark` multiplies one large pair and checks it.
#include <cmath>
#include <limits>
#include <vector>

#include "support.h"

// Repeated from the context on purpose: the harness includes nothing that a solution may replace.
void matmul(const float* a, const float* b, float* c, int m, int k, int n);

namespace {

constexpr int guard = 64;
constexpr float guard_value = 12345.0f;

// Small integers: every partial sum is exact in a float, so that any order of adding gives the same bits.
std::vector<float> small_integers(Random& random, int count) {
    std::vector<float> values(count);
    for (float& value : values) value = static_cast<float>(random.between(-4, 4));
    return values;
}

std::vector<float> reals(Random& random, int count) {
    std::vector<float> values(count);
    for (float& value : values) value = static_cast<float>(random.between(-1000000, 1000000)) * 1e-6f;
    return values;
}

// NaN first: adding to what C held on entry, or leaving an element out, cannot pass.
std::vector<float> poisoned(int count) {
    std::vector<float> values(count + guard, std::numeric_limits<float>::quiet_NaN());
    for (int i = 0; i < guard; ++i) values[count + i] = guard_value;
    return values;
}

bool guard_holds(const std::vector<float>& c, int count) {
    for (int i = 0; i < guard; ++i) {
        if (c[count + i] != guard_value) return failed("wrote behind the end of C");
    }
    return true;
}

double exact_element(const std::vector<float>& a, const std::vector<float>& b, int i, int j, int k, int n) {
    double sum = 0;
    for (int p = 0; p < k; ++p) sum += static_cast<double>(a[i * k + p]) * b[p * n + j];
    return sum;
}

bool shape_passes(const std::vector<float>& a, const std::vector<float>& b, int m, int k, int n, double tolerance) {
    const auto a_given = a, b_given = b;
    auto c = poisoned(m * n);
    matmul(a_given.data(), b_given.data(), c.data(), m, k, n);
    if (a_given != a || b_given != b) return failed("changed its inputs");
    for (int i = 0; i < m; ++i) {
        for (int j = 0; j < n; ++j) {
            const double error = std::fabs(c[i * n + j] - exact_element(a, b, i, j, k, n));
            if (!(error <= tolerance)) {
                std::fprintf(stderr, "FAILED: C[%d][%d] is off by %g for m=%d k=%d n=%d\n", i, j, error, m, k, n);
                return false;
            }
        }
    }
    return guard_holds(c, m * n);
}

bool tests() {
    Random random(fresh_seed());
    const int shapes[][3] = {{1, 1, 1},    {1, 7, 1},    {3, 1, 5},    {2, 2, 2},     {4, 4, 4},    {5, 4, 3},
                             {1, 64, 9},   {17, 33, 9},  {64, 64, 64}, {65, 127, 31}, {2, 200, 3},  {128, 1, 128},
                             {31, 96, 70}, {96, 31, 17}, {100, 8, 40}, {7, 257, 66},  {72, 72, 72}, {130, 70, 129}};
    for (const auto& [m, k, n] : shapes) {
        const auto a = small_integers(random, m * k), b = small_integers(random, k * n);
        if (!shape_passes(a, b, m, k, n, 0.0)) return false;
        const auto real_a = reals(random, m * k), real_b = reals(random, k * n);
        if (!shape_passes(real_a, real_b, m, k, n, 1e-5 * k)) return false;
    }
    return true;
}

std::vector<double> times_vector(const float* matrix, const std::vector<double>& vector, int rows, int columns) {
    std::vector<double> product(rows, 0.0);
    for (int i = 0; i < rows; ++i) {
        for (int j = 0; j < columns; ++j) product[i] += matrix[i * columns + j] * vector[j];
    }
    return product;
}

// Freivalds: A(Bx) = Cx for random x drawn after the call; a wrong row slips through with odds below one in 2^16.
bool product_holds(const std::vector<float>& a, const std::vector<float>& b, const std::vector<float>& c, int size) {
    Random random(fresh_seed());
    std::vector<double> x(size);
    for (double& value : x) value = random.between(1, 1 << 16);
    const auto expected = times_vector(a.data(), times_vector(b.data(), x, size, size), size, size);
    return times_vector(c.data(), x, size, size) == expected || failed("the benchmark's product is wrong");
}

bool benchmark() {
    constexpr int size = 640;
    Random random(fresh_seed());
    const auto a = small_integers(random, size * size), b = small_integers(random, size * size);
    const auto a_kept = a, b_kept = b;
    auto c = poisoned(size * size);
    matmul(a.data(), b.data(), c.data(), size, size, size);
    return guard_holds(c, size * size) && product_holds(a_kept, b_kept, c, size);
}

}  // namespace

int main(int argc, char**) {
    return (argc > 1 ? benchmark() : tests()) ? 0 : 1;
}
