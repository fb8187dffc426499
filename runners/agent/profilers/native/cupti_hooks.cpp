// The CUDA side: the driver calls InitializeInjection when a process starts to use CUDA (CUDA_INJECTION64_PATH).
// Device work comes as activity records; callbacks on the calls that launch it say who launched it, and when.
#include <cupti.h>
#include <dlfcn.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "process.h"

namespace podium {
namespace {

constexpr std::size_t BUFFER_BYTES = 1 << 20;
constexpr std::size_t ALIGNMENT = 8;
constexpr std::uint32_t FULL_BUFFERS_EVERY_MS = 100;
constexpr CUpti_CallbackId MOST_CALLBACKS = 4096;

std::string_view direction(std::uint8_t kind) {
    switch (kind) {
        case CUPTI_ACTIVITY_MEMCPY_KIND_HTOD: return "HtoD";
        case CUPTI_ACTIVITY_MEMCPY_KIND_DTOH: return "DtoH";
        case CUPTI_ACTIVITY_MEMCPY_KIND_DTOD: return "DtoD";
        case CUPTI_ACTIVITY_MEMCPY_KIND_PTOP: return "PtoP";
        default: return "Other";
    }
}

// Later versions of these records only add members at their ends.
void tell(Recorder& recorder, const CUpti_Activity* record) {
    if (record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL || record->kind == CUPTI_ACTIVITY_KIND_KERNEL) {
        const auto* kernel = reinterpret_cast<const CUpti_ActivityKernel4*>(record);
        recorder.ran({Work::kernel, kernel->start, kernel->end, kernel->correlationId, kernel->name ? kernel->name : "?"});
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

void CUPTIAPI buffer_completed(CUcontext context, std::uint32_t stream, std::uint8_t* buffer, std::size_t, std::size_t filled) {
    if (Recorder* its = recorder()) {
        CUpti_Activity* record = nullptr;
        while (cuptiActivityGetNextRecord(buffer, filled, &record) == CUPTI_SUCCESS) tell(*its, record);
        std::size_t dropped = 0;
        if (cuptiActivityGetNumDroppedRecords(context, stream, &dropped) == CUPTI_SUCCESS) its->dropped(dropped);
    }
    std::free(buffer);
}

void flush_complete() { cuptiActivityFlushAll(0); }

bool begins(std::string_view name, std::string_view with) { return name.compare(0, with.size(), with) == 0; }

bool contains(std::string_view name, std::string_view part) { return name.find(part) != std::string_view::npos; }

// By name, so that variants which later versions add are seen too.
bool launches(std::string_view name) {
    for (const char* prefix : {"cuLaunch", "cuGraphLaunch", "cuMemcpy", "cuMemset", "cudaLaunch", "cudaGraphLaunch",
                               "cudaMemcpy", "cudaMemset"})
        if (begins(name, prefix)) return true;
    return false;
}

// The driver's calls alone: the runtime makes them.
bool uses_device(std::string_view name) {
    for (const char* prefix : {"cuLaunch", "cuGraphLaunch", "cuMemcpy", "cuMemset"})
        if (begins(name, prefix)) return true;
    return false;
}

bool waits_for_device(std::string_view name) {
    for (const char* prefix : {"cuCtxSynchronize", "cuStreamSynchronize", "cuEventSynchronize"})
        if (begins(name, prefix)) return true;
    return false;
}

// Those that wait for the kernels that may use what they take away.
bool may_wait_for_device(std::string_view name) {
    for (const char* prefix : {"cuMemFree", "cuArrayDestroy", "cuMipmappedArrayDestroy", "cuModuleUnload", "cuLibraryUnload"})
        if (begins(name, prefix)) return !contains(name, "Async");
    return false;
}

// Copies between host and device, whose parameters all begin alike.
bool crosses(std::string_view name) {
    return (begins(name, "cuMemcpyHtoD") || begins(name, "cuMemcpyDtoH")) && contains(name, "_v2");
}

// Those that return only once what the program had begun is done: copies to pageable memory, and waits.
bool settles(std::string_view name) {
    const bool copies_back = contains(name, "DtoH") && !contains(name, "Async");
    return copies_back || waits_for_device(name);
}

// A long copy over the bus leaves nearly all of the device's bandwidth to others and takes most of many benchmarks' time,
// so it needs no turn where copies are not what is timed. A short one may be done by what computes, like a kernel.
constexpr std::size_t LONG_COPY_BYTES = 1 << 20;
bool copies_need_turns = false;

bool is_long_copy(const CUpti_CallbackData* call) {
    const auto* copy = static_cast<const cuMemcpyHtoD_v2_params*>(call->functionParams);
    return copy && copy->ByteCount >= LONG_COPY_BYTES;
}

// Those that make one kernel record each, unless they are captured into a graph.
bool launches_kernel(std::string_view name) {
    if (contains(name, "MultiDevice")) return false;
    for (const char* prefix : {"cuLaunchKernel", "cuLaunchCooperativeKernel", "cudaLaunchKernel", "cudaLaunchCooperativeKernel"})
        if (begins(name, prefix)) return true;
    return false;
}

// What takes a context and its unread records away.
bool tears_down(std::string_view name) {
    for (const char* prefix : {"cudaDeviceReset", "cudaThreadExit", "cuCtxDestroy", "cuDevicePrimaryCtxReset",
                               "cuDevicePrimaryCtxRelease"})
        if (begins(name, prefix)) return true;
    return false;
}

struct Watched {
    bool launch[MOST_CALLBACKS], kernel[MOST_CALLBACKS], teardown[MOST_CALLBACKS], gated[MOST_CALLBACKS],
        waiting[MOST_CALLBACKS], crossing[MOST_CALLBACKS], settling[MOST_CALLBACKS], async[MOST_CALLBACKS],
        per_thread[MOST_CALLBACKS], freeing[MOST_CALLBACKS];
} runtime_calls, driver_calls;
CUpti_SubscriberHandle subscriber = nullptr;

// Counts launches that went well, the runtime's once though it calls the driver: a recorder that gets fewer records than
// that was switched off by somebody.
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

// Waits for the stream in whose order a synchronous copy is done. False where the driver's function is not to be had.
bool wait_for_stream(bool per_thread) {
    using Wait = CUresult (*)(CUstream);
    static const auto wait_for = [] {
        void* driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
        return driver ? reinterpret_cast<Wait>(dlsym(driver, "cuStreamSynchronize")) : nullptr;
    }();
    if (!wait_for) return false;
    wait_for(per_thread ? CU_STREAM_PER_THREAD : CU_STREAM_LEGACY);
    return true;
}

// Around a call that needs no turn but waits for the kernels before it, which must not run on into another's turn: where
// there may be some, the run keeps its turn meanwhile. Returns whether it does from now on.
bool keep_turn(bool enters, bool settles) {
    thread_local bool keeps = false;
    if (enters) {
        keeps = gate().is_unsettled();
        if (keeps) gate().attend();
    } else if (keeps) {
        keeps = false;
        settles ? gate().leave(true) : gate().depart();
    } else if (settles) {
        gate().note_settled();
    }
    return keeps;
}

// The turn is kept until the kernels are done, and not for the copy; for what is only begun, as long as the call takes.
void copy_without_turn(const Watched& watched, CUpti_CallbackId id, bool enters) {
    const bool keeps = keep_turn(enters, watched.settling[id]);
    if (keeps && !watched.async[id] && wait_for_stream(watched.per_thread[id])) keep_turn(false, true);
}

void take_turn(const Watched& watched, CUpti_CallbackId id, const CUpti_CallbackData* call) {
    const bool enters = call->callbackSite == CUPTI_API_ENTER;
    if (watched.crossing[id] && !copies_need_turns && is_long_copy(call)) {
        copy_without_turn(watched, id, enters);
    } else if (watched.freeing[id]) {
        keep_turn(enters, false);
    } else if (!enters) {
        gate().leave(watched.settling[id]);
    } else if (watched.waiting[id]) {
        gate().attend();
    } else {
        gate().enter();
    }
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
    const Watched& watched = domain == CUPTI_CB_DOMAIN_RUNTIME_API ? runtime_calls : driver_calls;
    if (watched.kernel[id]) count_kernel(call);
    if (watched.gated[id] || watched.waiting[id] || watched.freeing[id]) take_turn(watched, id, call);
    if (call->callbackSite != CUPTI_API_ENTER) return;
    Recorder* its = recorder();
    if (its && watched.teardown[id]) flush_complete();
    if (its && watched.launch[id]) its->launched(call->correlationId, this_thread(), clock_now());
}

void watch(CUpti_CallbackDomain domain, CUpti_CallbackId end, Watched& watched) {
    for (CUpti_CallbackId id = 1; id < end && id < MOST_CALLBACKS; ++id) {
        const char* name = nullptr;
        if (cuptiGetCallbackName(domain, id, &name) != CUPTI_SUCCESS || !name) continue;
        watched.launch[id] = launches(name);
        watched.kernel[id] = launches_kernel(name);
        watched.teardown[id] = tears_down(name);
        watched.gated[id] = gate().in_use() && uses_device(name);
        watched.waiting[id] = gate().in_use() && waits_for_device(name);
        watched.freeing[id] = gate().in_use() && may_wait_for_device(name);
        watched.crossing[id] = crosses(name);
        watched.settling[id] = settles(name);
        watched.async[id] = contains(name, "Async");
        watched.per_thread[id] = contains(name, "_pt");
        if (watched.launch[id] || watched.teardown[id] || watched.gated[id] || watched.waiting[id] || watched.freeing[id])
            cuptiEnableCallback(1, subscriber, domain, id);
    }
}

void flush_all() {
    cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
    // Refused once somebody has ended our subscription.
    const bool ended = subscriber && cuptiEnableCallback(1, subscriber, CUPTI_CB_DOMAIN_RESOURCE,
                                                         CUPTI_CBID_RESOURCE_CONTEXT_CREATED) != CUPTI_SUCCESS;
    if (Recorder* its = ended ? recorder() : nullptr) its->dropped(1);
}

bool is_set(const char* name) {
    const char* value = std::getenv(name);
    return value && *value;
}

std::uint64_t CUPTIAPI timestamp() { return clock_now(); }

// False where another tool in the process has CUPTI's callbacks already.
bool subscribe() {
    copies_need_turns = is_set("PODIUM_GATE_COPIES");
    if (cuptiSubscribe(&subscriber, called, nullptr) != CUPTI_SUCCESS) return false;
    cuptiEnableCallback(1, subscriber, CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_CONTEXT_CREATED);
    watch(CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_SIZE, runtime_calls);
    watch(CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_SIZE, driver_calls);
    return true;
}

// Kernels of several streams never overlap then, and each takes some 1.5 us longer, as under ComputeEval's profiler.
bool one_at_a_time() { return is_set("PODIUM_CUPTI_SERIAL"); }

void record_device() {
    cuptiActivityRegisterTimestampCallback(timestamp);
    cuptiActivityRegisterCallbacks(buffer_requested, buffer_completed);
    if (!subscribe()) note_device_use(flush_complete);
    cuptiActivityEnable(one_at_a_time() ? CUPTI_ACTIVITY_KIND_KERNEL : CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
    for (const CUpti_ActivityKind kind : {CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMCPY2, CUPTI_ACTIVITY_KIND_MEMSET})
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
