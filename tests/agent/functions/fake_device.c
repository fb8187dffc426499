// Stands for the CUDA driver, as far as contestant.cpp uses it without arrays: tells on stderr what is queued.
#include <stdio.h>
static unsigned long long next = 0x1000;
int cuInit(unsigned flags) { return (int)flags; }
int cuDevicePrimaryCtxRetain(void** context, int device) { return *context = 0, device; }
int cuCtxSetCurrent(void* context) { return context != 0; }
int cuCtxSynchronize(void) { return fputs("finish\n", stderr) < 0; }
int cuGetErrorName(int status, const char** name) { return *name = "error", status == 0; }
int cuStreamWaitValue32_v2(void* stream, unsigned long long address, unsigned value, unsigned flags) {
    return fprintf(stderr, "wait %llx %u\n", address, value) < 0 || stream != 0 || flags != 1;
}
int cuStreamWriteValue32_v2(void* stream, unsigned long long address, unsigned value, unsigned flags) {
    return fprintf(stderr, "write %llx %u\n", address, value) < 0 || stream != 0 || flags != 0;
}
int cuMemImportFromShareableHandle(unsigned long long* handle, void* file, int type) { return *handle = 7, file == 0 || type != 1; }
int cuMemAddressReserve(unsigned long long* start, unsigned long size) { return *start = next, next += size, 0; }
int cuMemMap(void) { return 0; }
int cuMemSetAccess(unsigned long long start, unsigned long size, const int* access) {
    return fprintf(stderr, "map %llx %lu %s\n", start, size, access[2] == 3 ? "to write" : "to read") < 0;
}
int cuMemUnmap(void) { return 0; }
int cuMemRelease(void) { return 0; }
int cuMemAddressFree(void) { return 0; }
