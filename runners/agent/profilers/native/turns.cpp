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

// A long copy over the bus leaves nearly all of the device's bandwidth to others, and takes most of many benchmarks' time.
// It needs no turn unless copies are timed. A short copy may run on the multiprocessors, like a kernel.
constexpr std::size_t LONG_COPY_BYTES = 1 << 20;
bool copies_need_turns = false;

// The longest wait for a program's work. Some programs launch work that ends only after their next launch or write.
constexpr std::uint64_t SETTLE_NS = 1'000'000'000;
constexpr long SETTLE_LOOK_NS = 20'000;

struct Traits {
    // The stream's position among the parameters. NONE: the call uses the default stream. UNKNOWN: at another position.
    enum Parameters { NONE, LAUNCH, LAUNCH_EX, FIRST, SECOND, FOURTH, UNKNOWN } parameters = NONE;
    bool uses = false;     // needs a turn
    bool waits = false;    // needs no turn, but keeps the turn that the run has
    bool frees = false;    // waits for the kernels that may use the freed object
    bool crosses = false;  // copies between host and device
    bool settles = false;  // returns only once all earlier work is done
    bool async = false;    // returns before its work is done
    bool per_thread = false;
    bool begins_capture = false, ends_capture = false;
    bool destroys_stream = false, destroys_all = false;

    bool any() const {
        return uses || waits || frees || begins_capture || ends_capture || destroys_stream || destroys_all;
    }
};
Traits traits[MOST_CALLBACKS];

std::atomic<int> captures{0};  // number of stream captures under way; a wait for the device would break them

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
    // The parameters of these functions all begin with the same members.
    its.crosses = begins_with_any(name, {"cuMemcpyHtoD", "cuMemcpyDtoH"}) && contains(name, "_v2");
    its.settles = its.waits || (contains(name, "DtoH") && !its.async);
    its.per_thread = contains(name, "_pt");
    its.begins_capture = begins(name, "cuStreamBeginCapture");
    its.ends_capture = begins(name, "cuStreamEndCapture");
    its.destroys_stream = begins(name, "cuStreamDestroy");
    its.destroys_all = begins_with_any(name, {"cuCtxDestroy", "cuDevicePrimaryCtxReset", "cuDevicePrimaryCtxRelease"});
    return its;
}

// Null if the driver lacks the function.
template <class Function>
Function driver_function(const char* name) {
    void* driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
    return driver ? reinterpret_cast<Function>(dlsym(driver, name)) : nullptr;
}

CUstream default_stream(const Traits& its) { return its.per_thread ? CU_STREAM_PER_THREAD : CU_STREAM_LEGACY; }

Streams streams;

// Notes the stream on which the call puts work. Launches and asynchronous calls name it; null is the default stream.
void note_stream(const Traits& its, const void* parameters) {
    if (its.parameters == Traits::UNKNOWN || (!parameters && its.parameters != Traits::NONE))
        return streams.lose_count();
    const auto at = [&](int place) { return static_cast<const CUstream*>(parameters)[place]; };
    CUstream stream = nullptr;
    if (its.parameters == Traits::LAUNCH) stream = static_cast<const cuLaunchKernel_params*>(parameters)->hStream;
    if (its.parameters == Traits::LAUNCH_EX)
        if (const auto* config = static_cast<const cuLaunchKernelEx_params*>(parameters)->config)
            stream = config->hStream;
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

// Waits for the stream in whose order a synchronous copy runs. Returns false if the driver lacks the function.
bool wait_for_stream(CUstream stream) {
    static const auto wait_for = driver_function<CUresult (*)(CUstream)>("cuStreamSynchronize");
    if (!wait_for) return false;
    wait_for(stream);
    return true;
}

// Waits for all work of the process and returns whether it is done within SETTLE_NS. Returns false at once if a stream is
// unknown, during a capture, or if an earlier wait took SETTLE_NS: the program would lose that time at each turn.
bool settle() {
    using Query = CUresult (*)(CUstream);
    static const auto query = driver_function<Query>("cuStreamQuery");
    if (!query || !streams.all_known() || gate().never_stops()) return false;
    const auto is_done = [](CUstream stream) { return captures.load() == 0 && query(stream) != CUDA_ERROR_NOT_READY; };
    for (const Nanoseconds deadline = clock_now() + SETTLE_NS; clock_now() < deadline;) {
        if (captures.load() != 0) return false;  // another thread may have begun a capture
        if (streams.all(is_done)) return captures.load() == 0;
        const timespec pause{0, SETTLE_LOOK_NS};
        nanosleep(&pause, nullptr);
    }
    gate().note_never_stops();
    return false;
}

// Whether this process launches the function for the first time. Returns false if the table has no room.
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

// Call before and after a driver call that needs no turn but waits for earlier kernels. These kernels must not run on into
// another run's turn, so the run keeps its turn if there may be any. Returns whether the run keeps it from now on.
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

// The run keeps its turn until the kernels are done, and not during the copy. For an asynchronous copy, the run keeps its
// turn during the call.
void copy_without_turn(const Traits& its, bool enters) {
    const bool keeps = keep_turn(enters, its.settles);
    if (keeps && !its.async && wait_for_stream(default_stream(its))) keep_turn(false, true);
}

// The same for a call that may wait long for the driver while other programs start. The run keeps its turn only until the
// earlier kernels are done.
void wait_without_turn(bool enters) {
    const bool keeps = keep_turn(enters, false);
    if (keeps && settle()) keep_turn(false, true);
}

// Loads a kernel's code without a turn, so that other runs need not wait. Otherwise the driver loads it at the first
// launch, which takes up to some tenths of a second. A launch also accepts a CUkernel of a library; its CUfunction belongs
// to the context.
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

// Whether a call ended the capture. A refused call does not end it, unless the error says that the capture went wrong.
bool has_ended(CUresult ended) {
    return ended == CUDA_SUCCESS || ended == CUDA_ERROR_STREAM_CAPTURE_INVALIDATED ||
           ended == CUDA_ERROR_STREAM_CAPTURE_UNMATCHED || ended == CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
}

void end_capture() {
    int before = captures.load();
    while (before > 0 && !captures.compare_exchange_weak(before, before - 1)) continue;
}

// A capture counts from before it begins.
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
