// pinned GIB: pins that much host memory and touches it.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include "resident.h"
int main(int, char** words) {
    size_t bytes = strtoull(words[1], nullptr, 10) << 30;
    void* at = nullptr;
    if (cudaMallocHost(&at, bytes) != cudaSuccess) return 4;
    memset(at, 1, bytes);
    tell_resident();
    puts("pinned");
    return 0;
}
