#include <vector>

#include "matmul.h"

// Eight columns of B are packed next to each other, padded with zeros, and used for all rows of A.
typedef float Lanes __attribute__((vector_size(16)));

struct Panel {
    Lanes left, right;
};

static void pack(const float* b, std::vector<Panel>& panels, int k, int n, int first) {
    for (int p = 0; p < k; ++p) {
        float columns[8] = {};
        for (int j = 0; j < 8 && first + j < n; ++j) columns[j] = b[static_cast<long>(p) * n + first + j];
        panels[p].left = Lanes{columns[0], columns[1], columns[2], columns[3]};
        panels[p].right = Lanes{columns[4], columns[5], columns[6], columns[7]};
    }
}

static void store(float* row, const Lanes& left, const Lanes& right, int count) {
    for (int j = 0; j < count && j < 4; ++j) row[j] = left[j];
    for (int j = 4; j < count && j < 8; ++j) row[j] = right[j - 4];
}

static void three_rows(const float* a, const std::vector<Panel>& panels, float* c, int k, int n, int columns) {
    Lanes l0 = {}, r0 = {}, l1 = {}, r1 = {}, l2 = {}, r2 = {};
    const float *a0 = a, *a1 = a + k, *a2 = a + 2L * k;
    for (int p = 0; p < k; ++p) {
        const Panel& panel = panels[p];
        l0 += panel.left * a0[p];
        r0 += panel.right * a0[p];
        l1 += panel.left * a1[p];
        r1 += panel.right * a1[p];
        l2 += panel.left * a2[p];
        r2 += panel.right * a2[p];
    }
    store(c, l0, r0, columns);
    store(c + n, l1, r1, columns);
    store(c + 2L * n, l2, r2, columns);
}

static void one_row(const float* a, const std::vector<Panel>& panels, float* c, int k, int columns) {
    Lanes left = {}, right = {};
    for (int p = 0; p < k; ++p) {
        left += panels[p].left * a[p];
        right += panels[p].right * a[p];
    }
    store(c, left, right, columns);
}

void matmul(const float* a, const float* b, float* c, int m, int k, int n) {
    std::vector<Panel> panels(k);
    for (int j = 0; j < n; j += 8) {
        pack(b, panels, k, n, j);
        int i = 0;
        for (; i + 3 <= m; i += 3) three_rows(a + static_cast<long>(i) * k, panels, c + static_cast<long>(i) * n + j, k, n, n - j);
        for (; i < m; ++i) one_row(a + static_cast<long>(i) * k, panels, c + static_cast<long>(i) * n + j, k, n - j);
    }
}
