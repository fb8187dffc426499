#include "matmul.h"

void matmul(const float* a, const float* b, float* c, int m, int k, int n) {
    const float* const end = a + static_cast<long>(m) * k;
    while (a != end) {
        for (float* target = c; target != c + n; ++target) *target = 0.0f;
        for (const float* source = b; source != b + static_cast<long>(k) * n; ++a) {
            for (float* target = c; target != c + n; ++target) *target += *a * *source++;
        }
        c += n;
    }
}
