// The CUDA side. The driver calls InitializeInjection when a process starts to use CUDA (CUDA_INJECTION64_PATH).
// CUPTI reports device work as activity records. Callbacks on the launching calls give their threads and times.
#include <cupti.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "names.h"
#include "process.h"
#include "turns.h"

namespace podium {
namespace {

constexpr std::size_t BUFFER_BYTES = 1 << 20;
constexpr std::size_t ALIGNMENT = 8;
constexpr std::uint32_t FULL_BUFFERS_EVERY_MS = 100;

std::string_view direction(std::uint8_t kind) {
    switch (kind) {
        case CUPTI_ACTIVITY_MEMCPY_KIND_HTOD:
            return UPLOAD;
        case CUPTI_ACTIVITY_MEMCPY_KIND_DTOH:
            return DOWNLOAD;
        case CUPTI_ACTIVITY_MEMCPY_KIND_DTOD:
            return "DtoD";
        case CUPTI_ACTIVITY_MEMCPY_KIND_PTOP:
            return "PtoP";
        default:
            return "Other";
    }
}

// Later versions of these records only add members at their ends.
void tell(Recorder& recorder, const CUpti_Activity* record) {
    if (record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL || record->kind == CUPTI_ACTIVITY_KIND_KERNEL) {
        const auto* kernel = reinterpret_cast<const CUpti_ActivityKernel4*>(record);
        recorder.ran(
            {Work::kernel, kernel->start, kernel->end, kernel->correlationId, kernel->name ? kernel->name : "?"});
    } else if (record->kind == CUPTI_ACTIVITY_KIND_MEMCPY) {
        const auto* copy = reinterpret_cast<const CUpti_ActivityMemcpy*>(record);
        recorder.ran({Work::copy, copy->start, copy->end, copy->correlationId, direction(copy->copyKind), copy->bytes});
    } else if (record->kind == CUPTI_ACTIVITY_KIND_MEMCPY2) {
        const auto* copy = reinterpret_cast<const CUpti_ActivityMemcpyPtoP*>(record);
        recorder.ran({Work::copy, copy->start, copy->end, copy->correlationId, "PtoP", copy->bytes});
    } else if (record->kind == CUPTI_ACTIVITY_KIND_MEMSET) {
        const auto* fill = reinterpret_cast<const CUpti_ActivityMemset*>(record);
        recorder.ran({Work::fill, fill->start, fill->end, fill->correlationId, "", fill->bytes});
    }
}

void CUPTIAPI buffer_requested(std::uint8_t** buffer, std::size_t* size, std::size_t* most_records) {
    *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(ALIGNMENT, BUFFER_BYTES));
    *size = *buffer ? BUFFER_BYTES : 0;
    *most_records = 0;
}

void CUPTIAPI buffer_completed(CUcontext context, std::uint32_t stream, std::uint8_t* buffer, std::size_t,
                               std::size_t filled) {
    if (Recorder* its = recorder()) {
        CUpti_Activity* record = nullptr;
        while (cuptiActivityGetNextRecord(buffer, filled, &record) == CUPTI_SUCCESS) tell(*its, record);
        std::size_t dropped = 0;
        if (cuptiActivityGetNumDroppedRecords(context, stream, &dropped) == CUPTI_SUCCESS) its->dropped(dropped);
    }
    std::free(buffer);
}

void flush_complete() { cuptiActivityFlushAll(0); }

bool launches(std::string_view name) {
    return begins_with_any(name, {"cuLaunch", "cuGraphLaunch", "cuMemcpy", "cuMemset", "cudaLaunch", "cudaGraphLaunch",
                                  "cudaMemcpy", "cudaMemset"});
}

// Whether a call makes one kernel record, unless it is captured into a graph.
bool launches_kernel(std::string_view name) {
    return !contains(name, "MultiDevice") && begins_with_any(name, {"cuLaunchKernel", "cuLaunchCooperativeKernel",
                                                                    "cudaLaunchKernel", "cudaLaunchCooperativeKernel"});
}

// Whether a call destroys a context and its unread records.
bool tears_down(std::string_view name) {
    return begins_with_any(name, {"cudaDeviceReset", "cudaThreadExit", "cuCtxDestroy", "cuDevicePrimaryCtxReset",
                                  "cuDevicePrimaryCtxRelease"});
}

struct Watched {
    bool launch[MOST_CALLBACKS], kernel[MOST_CALLBACKS], graph[MOST_CALLBACKS], teardown[MOST_CALLBACKS];
} runtime_calls, driver_calls;
CUpti_SubscriberHandle subscriber = nullptr;

// Counts successful launches. A runtime call counts once, although it calls the driver. A recorder that gets fewer records
// than this was switched off by the program.
void count_kernel(const CUpti_CallbackData* call) {
    thread_local int nested = 0;
    if (call->callbackSite == CUPTI_API_ENTER) {
        ++nested;
        return;
    }
    nested = std::max(0, nested - 1);
    const auto* failure = static_cast<const int*>(call->functionReturnValue);
    Recorder* its = recorder();
    if (its && nested == 0 && failure && *failure == 0) its->kernel_called();
}

void CUPTIAPI called(void*, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void* data) {
    if (domain == CUPTI_CB_DOMAIN_RESOURCE) {
        if (id == CUPTI_CBID_RESOURCE_CONTEXT_CREATED) {
            gate().end_start();
            note_device_use(flush_complete);
        }
        return;
    }
    const auto* call = static_cast<const CUpti_CallbackData*>(data);
    if (id >= MOST_CALLBACKS) return;
    const bool is_driver = domain == CUPTI_CB_DOMAIN_DRIVER_API;
    const Watched& watched = is_driver ? driver_calls : runtime_calls;
    if (watched.kernel[id]) count_kernel(call);
    if (is_driver && gate().in_use()) take_turn(id, call);
    if (call->callbackSite != CUPTI_API_ENTER) return;
    Recorder* its = recorder();
    if (its && watched.teardown[id]) flush_complete();
    if (its && watched.graph[id]) its->graph_launched();
    if (its && watched.launch[id]) its->launched(call->correlationId, this_thread(), clock_now());
}

void watch(CUpti_CallbackDomain domain, CUpti_CallbackId end, Watched& watched) {
    for (CUpti_CallbackId id = 1; id < end && id < MOST_CALLBACKS; ++id) {
        const char* name = nullptr;
        if (cuptiGetCallbackName(domain, id, &name) != CUPTI_SUCCESS || !name) continue;
        watched.launch[id] = launches(name);
        watched.kernel[id] = launches_kernel(name);
        watched.graph[id] = begins(name, "cuGraphLaunch");  // the runtime calls the driver's function, too
        watched.teardown[id] = tears_down(name);
        const bool takes_turns = domain == CUPTI_CB_DOMAIN_DRIVER_API && gate().in_use() && learn_turns(id, name);
        if (watched.launch[id] || watched.teardown[id] || takes_turns) cuptiEnableCallback(1, subscriber, domain, id);
    }
}

void flush_all() {
    cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
    // CUPTI refuses this call if the program has ended our subscription.
    const bool ended = subscriber && cuptiEnableCallback(1, subscriber, CUPTI_CB_DOMAIN_RESOURCE,
                                                         CUPTI_CBID_RESOURCE_CONTEXT_CREATED) != CUPTI_SUCCESS;
    if (Recorder* its = ended ? recorder() : nullptr) its->dropped(1);
}

bool is_set(const char* name) {
    const char* value = std::getenv(name);
    return value && *value;
}

std::uint64_t CUPTIAPI timestamp() { return clock_now(); }

// Returns false if another tool in the process already has CUPTI's callbacks.
bool subscribe() {
    if (is_set("PODIUM_GATE_COPIES")) let_copies_need_turns();
    if (cuptiSubscribe(&subscriber, called, nullptr) != CUPTI_SUCCESS) return false;
    cuptiEnableCallback(1, subscriber, CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_CONTEXT_CREATED);
    watch(CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_SIZE, runtime_calls);
    watch(CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_SIZE, driver_calls);
    return true;
}

// Whether kernels are serialised. Each then takes about 1.5 us longer, as under ComputeEval's profiler.
bool one_at_a_time() { return is_set("PODIUM_CUPTI_SERIAL"); }

void record_device() {
    cuptiActivityRegisterTimestampCallback(timestamp);
    cuptiActivityRegisterCallbacks(buffer_requested, buffer_completed);
    if (!subscribe()) note_device_use(flush_complete);
    cuptiActivityEnable(one_at_a_time() ? CUPTI_ACTIVITY_KIND_KERNEL : CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
    for (const CUpti_ActivityKind kind :
         {CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMCPY2, CUPTI_ACTIVITY_KIND_MEMSET})
        cuptiActivityEnable(kind);
    cuptiActivityFlushPeriod(FULL_BUFFERS_EVERY_MS);
    finish_at_exit(flush_all);
}

}  // namespace
}  // namespace podium

extern "C" __attribute__((visibility("default"))) int InitializeInjection() {
    podium::gate().begin_start();
    podium::begin_recording();
    if (podium::recorder()) {
        podium::record_device();
    } else if (podium::gate().in_use()) {
        podium::subscribe();
    }
    return 1;
}
