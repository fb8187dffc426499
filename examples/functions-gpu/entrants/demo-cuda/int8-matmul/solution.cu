// Tiles of 64 x 64 in shared memory, four products an instruction; each thread makes 4 x 4 elements of c.
#include <cstddef>
#include <cstdint>

constexpr int TILE = 64, DEPTH = 32, PADDED = DEPTH + 4, THREADS = 256;

// Both tiles are stored with k along memory, so that four neighbours of k make one word.
struct Tiles {
    alignas(4) int8_t a[TILE][PADDED];
    alignas(4) int8_t b[TILE][PADDED];
};

__device__ void load(Tiles& tiles, const int8_t* a, const int8_t* b, size_t row, size_t col, size_t from, size_t m, size_t n, size_t k) {
    for (int i = threadIdx.x; i < TILE * DEPTH; i += THREADS) {
        const int r = i / DEPTH, p = i % DEPTH;
        tiles.a[r][p] = row + r < m && from + p < k ? a[(row + r) * k + from + p] : int8_t(0);
        const int q = i / TILE, c = i % TILE;
        tiles.b[c][q] = col + c < n && from + q < k ? b[(from + q) * n + col + c] : int8_t(0);
    }
}

__device__ int word(const int8_t* bytes) {
    return *reinterpret_cast<const int*>(bytes);
}

__device__ void multiply_tiles(const Tiles& tiles, int y, int x, int (&sums)[4][4]) {
    for (int p = 0; p < DEPTH; p += 4) {
        int left[4], right[4];
        for (int i = 0; i < 4; ++i) left[i] = word(&tiles.a[y + 16 * i][p]);
        for (int j = 0; j < 4; ++j) right[j] = word(&tiles.b[x + 16 * j][p]);
        for (int i = 0; i < 4; ++i)
            for (int j = 0; j < 4; ++j) sums[i][j] = __dp4a(left[i], right[j], sums[i][j]);
    }
}

__global__ void multiply(const int8_t* a, const int8_t* b, int32_t* c, size_t m, size_t n, size_t k) {
    __shared__ Tiles tiles;
    const size_t row = size_t(blockIdx.y) * TILE, col = size_t(blockIdx.x) * TILE;
    const int y = threadIdx.x / 16, x = threadIdx.x % 16;
    int sums[4][4] = {};
    for (size_t from = 0; from < k; from += DEPTH) {
        load(tiles, a, b, row, col, from, m, n, k);
        __syncthreads();
        multiply_tiles(tiles, y, x, sums);
        __syncthreads();
    }
    for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j) {
            const size_t r = row + y + 16 * i, s = col + x + 16 * j;
            if (r < m && s < n) c[r * n + s] = sums[i][j];
        }
}

extern "C" void solution(const int8_t* a, const int8_t* b, int32_t* c, size_t m, size_t n, size_t k) {
    const dim3 grid((n + TILE - 1) / TILE, (m + TILE - 1) / TILE);
    multiply<<<grid, THREADS>>>(a, b, c, m, n, k);
}
