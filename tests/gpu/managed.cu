// managed GIB: takes that much managed memory and touches it on the host.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include "resident.h"
int main(int, char** words) {
    size_t bytes = strtoull(words[1], nullptr, 10) << 30;
    void* at = nullptr;
    if (cudaMallocManaged(&at, bytes) != cudaSuccess) return 4;
    memset(at, 1, bytes);
    tell_resident();
    puts("managed");
    return 0;
}
