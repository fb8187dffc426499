// Stands for the CUDA driver, as far as contestant.cpp uses it without arrays, and for the library of kernel spans.
int cuInit(unsigned flags) { return (int)flags; }
int cuDevicePrimaryCtxRetain(void** context, int device) { return *context = 0, device; }
int cuCtxSetCurrent(void* context) { return context != 0; }
int cuCtxSynchronize(void) { return 0; }
int cuGetErrorName(int status, const char** name) { return *name = "error", status == 0; }
int cuEventCreate(void** event, unsigned flags) { return *event = event, (int)flags; }
int cuEventRecord(void* event, void* stream) { return event == 0 || stream != 0; }
int cuEventSynchronize(void* event) { return event == 0; }
int cuEventElapsedTime(float* ms, void* from, void* to) { return *ms = 1.5f, from == to; }
int cuMemImportFromShareableHandle(void) { return 1; }
int cuMemAddressReserve(void) { return 1; }
int cuMemMap(void) { return 1; }
int cuMemSetAccess(void) { return 1; }
int cuMemUnmap(void) { return 1; }
int cuMemRelease(void) { return 1; }
int cuMemAddressFree(void) { return 1; }

static float span_ms = -1;
int podium_spans_open(void) { return 1; }
void podium_spans_begin(void) { span_ms = 1.25f; }
float podium_spans_end(void) { return span_ms; }
