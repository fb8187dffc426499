#include "turns.h"

#include <cuda.h>
#include <dlfcn.h>
#include <time.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "names.h"
#include "process.h"
#include "streams.h"

namespace podium {
namespace {

// A long copy over the bus leaves nearly all of the device's bandwidth to others and takes most of many benchmarks' time,
// so it needs no turn where copies are not what is timed. A short one may be done by what computes, like a kernel.
constexpr std::size_t LONG_COPY_BYTES = 1 << 20;
bool copies_need_turns = false;

// Some programs launch work that only ends with what they launch or write next, so it is not waited for for ever.
constexpr std::uint64_t SETTLE_NS = 1'000'000'000;
constexpr long SETTLE_LOOK_NS = 20'000;

struct Traits {
    // Where the stream stands among the parameters: NONE is the default stream, UNKNOWN somewhere else.
    enum Parameters { NONE, LAUNCH, LAUNCH_EX, FIRST, SECOND, FOURTH, UNKNOWN } parameters = NONE;
    bool uses = false;      // needs a turn
    bool waits = false;     // keeps one, and needs none
    bool frees = false;     // waits for the kernels that may use what it takes away
    bool crosses = false;   // copies between host and device
    bool settles = false;   // returns only once what the program had begun is done
    bool async = false;     // only begins what it is to do
    bool per_thread = false;
    bool begins_capture = false, ends_capture = false;
    bool destroys_stream = false, destroys_all = false;

    bool any() const {
        return uses || waits || frees || begins_capture || ends_capture || destroys_stream || destroys_all;
    }
};
Traits traits[MOST_CALLBACKS];

std::atomic<int> captures{0};  // of streams into graphs, under way: what waits for the device would break them

Traits::Parameters parameters_of(std::string_view name) {
    if (begins(name, "cuLaunchKernelEx")) return Traits::LAUNCH_EX;
    if (contains(name, "MultiDevice")) return Traits::UNKNOWN;
    if (begins_with_any(name, {"cuLaunchKernel", "cuLaunchCooperativeKernel"})) return Traits::LAUNCH;
    if (begins(name, "cuLaunchHostFunc")) return Traits::FIRST;
    if (begins_with_any(name, {"cuGraphLaunch", "cuMemcpy2DAsync_v2", "cuMemcpy3DAsync_v2"})) return Traits::SECOND;
    if (begins_with_any(name, {"cuMemcpyAsync", "cuMemcpyHtoDAsync_v2", "cuMemcpyDtoHAsync_v2", "cuMemcpyDtoDAsync_v2",
                               "cuMemsetD8Async", "cuMemsetD16Async", "cuMemsetD32Async"}))
        return Traits::FOURTH;
    return contains(name, "Async") || begins(name, "cuLaunch") ? Traits::UNKNOWN : Traits::NONE;
}

Traits traits_of(std::string_view name) {
    Traits its;
    its.parameters = parameters_of(name);
    its.uses = begins_with_any(name, {"cuLaunch", "cuGraphLaunch", "cuMemcpy", "cuMemset"});
    its.waits = begins_with_any(name, {"cuCtxSynchronize", "cuStreamSynchronize", "cuEventSynchronize"});
    its.async = contains(name, "Async");
    its.frees = !its.async && begins_with_any(name, {"cuMemFree", "cuArrayDestroy", "cuMipmappedArrayDestroy",
                                                     "cuModuleUnload", "cuLibraryUnload"});
    // Their parameters all begin alike.
    its.crosses = begins_with_any(name, {"cuMemcpyHtoD", "cuMemcpyDtoH"}) && contains(name, "_v2");
    its.settles = its.waits || (contains(name, "DtoH") && !its.async);
    its.per_thread = contains(name, "_pt");
    its.begins_capture = begins(name, "cuStreamBeginCapture");
    its.ends_capture = begins(name, "cuStreamEndCapture");
    its.destroys_stream = begins(name, "cuStreamDestroy");
    its.destroys_all = begins_with_any(name, {"cuCtxDestroy", "cuDevicePrimaryCtxReset", "cuDevicePrimaryCtxRelease"});
    return its;
}

// Null where the driver does not have it.
template <class Function>
Function driver_function(const char* name) {
    void* driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
    return driver ? reinterpret_cast<Function>(dlsym(driver, name)) : nullptr;
}

CUstream default_stream(const Traits& its) { return its.per_thread ? CU_STREAM_PER_THREAD : CU_STREAM_LEGACY; }

Streams streams;

// Notes on which stream the call puts work. A launch and an asynchronous call name it; null stands for the default one.
void note_stream(const Traits& its, const void* parameters) {
    if (its.parameters == Traits::UNKNOWN || (!parameters && its.parameters != Traits::NONE)) return streams.lose_count();
    const auto at = [&](int place) { return static_cast<const CUstream*>(parameters)[place]; };
    CUstream stream = nullptr;
    if (its.parameters == Traits::LAUNCH) stream = static_cast<const cuLaunchKernel_params*>(parameters)->hStream;
    if (its.parameters == Traits::LAUNCH_EX)
        if (const auto* config = static_cast<const cuLaunchKernelEx_params*>(parameters)->config) stream = config->hStream;
    if (its.parameters == Traits::FIRST) stream = at(0);
    if (its.parameters == Traits::SECOND) stream = at(1);
    if (its.parameters == Traits::FOURTH) stream = at(3);
    streams.note(stream ? stream : default_stream(its));
}

CUfunction function_of(const Traits& its, const void* parameters) {
    if (its.parameters == Traits::LAUNCH) return static_cast<const cuLaunchKernel_params*>(parameters)->f;
    if (its.parameters == Traits::LAUNCH_EX) return static_cast<const cuLaunchKernelEx_params*>(parameters)->f;
    return nullptr;
}

// Waits for the stream in whose order a synchronous copy is done. False where the driver's function is not to be had.
bool wait_for_stream(CUstream stream) {
    static const auto wait_for = driver_function<CUresult (*)(CUstream)>("cuStreamSynchronize");
    if (!wait_for) return false;
    wait_for(stream);
    return true;
}

// Whether all work of the process is done within a while; false where that cannot be told, or not without harm. Who
// once had work that did not end by itself is asked no more: it would cost it that while each time.
bool settle() {
    using Query = CUresult (*)(CUstream);
    static const auto query = driver_function<Query>("cuStreamQuery");
    if (!query || !streams.all_known() || gate().never_stops()) return false;
    const auto is_done = [](CUstream stream) { return captures.load() == 0 && query(stream) != CUDA_ERROR_NOT_READY; };
    for (const Nanoseconds deadline = clock_now() + SETTLE_NS; clock_now() < deadline;) {
        if (captures.load() != 0) return false;  // another thread may have begun one meanwhile
        if (streams.all(is_done)) return captures.load() == 0;
        const timespec pause{0, SETTLE_LOOK_NS};
        nanosleep(&pause, nullptr);
    }
    gate().note_never_stops();
    return false;
}

// Whether this process has not launched it before, as far as the table has room.
bool is_new(CUfunction function) {
    constexpr std::size_t PLACES = 1 << 12, PROBES = 16;
    static std::atomic<CUfunction> known[PLACES];
    const std::size_t start = reinterpret_cast<std::uintptr_t>(function) >> 4;
    for (std::size_t probe = 0; probe < PROBES; ++probe) {
        CUfunction held = nullptr;
        if (known[(start + probe) % PLACES].compare_exchange_strong(held, function)) return true;
        if (held == function) return false;
    }
    return false;
}

bool is_long_copy(const CUpti_CallbackData* call) {
    const auto* copy = static_cast<const cuMemcpyHtoD_v2_params*>(call->functionParams);
    return copy && copy->ByteCount >= LONG_COPY_BYTES;
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
void copy_without_turn(const Traits& its, bool enters) {
    const bool keeps = keep_turn(enters, its.settles);
    if (keeps && !its.async && wait_for_stream(default_stream(its))) keep_turn(false, true);
}

// Likewise around what waits for the driver for much longer, while other programs start, than for the kernels before it.
void wait_without_turn(bool enters) {
    const bool keeps = keep_turn(enters, false);
    if (keeps && settle()) keep_turn(false, true);
}

// The driver loads code when it is first launched. That takes up to some tenths of a second, for which others need not
// wait. Launches take kernels of libraries too, which have their functions in the context.
void load(CUfunction function) {
    static const auto load_function = driver_function<CUresult (*)(CUfunction)>("cuFuncLoad");
    static const auto get_function = driver_function<CUresult (*)(CUfunction*, CUkernel)>("cuKernelGetFunction");
    if (!load_function || captures.load() != 0) return;
    wait_without_turn(true);
    CUfunction its = nullptr;
    if (load_function(function) == CUDA_ERROR_INVALID_HANDLE && get_function &&
        get_function(&its, reinterpret_cast<CUkernel>(function)) == CUDA_SUCCESS)
        load_function(its);
    wait_without_turn(false);
}

void enter(const Traits& its, const void* parameters) {
    const CUfunction function = parameters ? function_of(its, parameters) : nullptr;
    if (function && is_new(function)) load(function);
    gate().enter(settle);
    note_stream(its, parameters);
}

// An end that is refused leaves the capture as it was, but for one that says how the capture itself went wrong.
bool has_ended(CUresult ended) {
    return ended == CUDA_SUCCESS || ended == CUDA_ERROR_STREAM_CAPTURE_INVALIDATED ||
           ended == CUDA_ERROR_STREAM_CAPTURE_UNMATCHED || ended == CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
}

void end_capture() {
    int before = captures.load();
    while (before > 0 && !captures.compare_exchange_weak(before, before - 1)) continue;
}

// One counts from before it begins.
void count_captures(const Traits& its, const CUpti_CallbackData* call) {
    const bool enters = call->callbackSite == CUPTI_API_ENTER;
    const auto* result = static_cast<const CUresult*>(call->functionReturnValue);
    if (its.begins_capture && enters) ++captures;
    if (its.begins_capture && !enters && result && *result != CUDA_SUCCESS) end_capture();
    if (its.ends_capture && !enters && result && has_ended(*result)) end_capture();
}

void forget_streams(const Traits& its, const CUpti_CallbackData* call) {
    if (call->callbackSite != CUPTI_API_ENTER) return;
    const auto* destroyed = static_cast<const cuStreamDestroy_v2_params*>(call->functionParams);
    if (its.destroys_all) streams.forget_all();
    else if (destroyed) streams.forget(destroyed->hStream);
}

}  // namespace

void let_copies_need_turns() { copies_need_turns = true; }

bool learn_turns(CUpti_CallbackId id, std::string_view name) {
    traits[id] = traits_of(name);
    return traits[id].any();
}

void take_turn(CUpti_CallbackId id, const CUpti_CallbackData* call) {
    const Traits& its = traits[id];
    const bool enters = call->callbackSite == CUPTI_API_ENTER;
    if (its.begins_capture || its.ends_capture) {
        count_captures(its, call);
    } else if (its.destroys_stream || its.destroys_all) {
        forget_streams(its, call);
    } else if (its.crosses && !copies_need_turns && is_long_copy(call)) {
        copy_without_turn(its, enters);
    } else if (its.frees) {
        wait_without_turn(enters);
    } else if (its.waits && enters) {
        gate().attend();
    } else if (its.uses && enters) {
        enter(its, call->functionParams);
    } else if (its.waits || its.uses) {
        gate().leave(its.settles);
    }
}

}  // namespace podium
