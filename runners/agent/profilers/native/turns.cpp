#include "turns.h"

#include <cuda.h>
#include <dlfcn.h>
#include <time.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "names.h"
#include "process.h"

namespace podium {
namespace {

// A long copy over the bus leaves nearly all of the device's bandwidth to others and takes most of many benchmarks' time,
// so it needs no turn where copies are not what is timed. A short one may be done by what computes, like a kernel.
constexpr std::size_t LONG_COPY_BYTES = 1 << 20;
bool copies_need_turns = false;

// Some programs launch work that only ends with what they launch next, so it is not waited for for ever.
constexpr std::uint64_t SETTLE_NS = 1'000'000'000;
constexpr long SETTLE_LOOK_NS = 50'000;

struct Traits {
    enum Parameters { OTHER, LAUNCH, LAUNCH_EX, GRAPH } parameters = OTHER;
    bool uses = false;      // needs a turn
    bool waits = false;     // keeps one, and needs none
    bool frees = false;     // waits for the kernels that may use what it takes away
    bool crosses = false;   // copies between host and device
    bool settles = false;   // returns only once what the program had begun is done
    bool async = false;     // only begins what it is to do
    bool per_thread = false;
    bool begins_capture = false, ends_capture = false;

    bool any() const { return uses || waits || frees || begins_capture || ends_capture; }
};
Traits traits[MOST_CALLBACKS];

std::atomic<int> captures{0};  // of streams into graphs, under way: what waits for the device would break them

Traits traits_of(std::string_view name) {
    Traits its;
    if (begins(name, "cuLaunchKernelEx")) its.parameters = Traits::LAUNCH_EX;
    else if (begins_with_any(name, {"cuLaunchKernel", "cuLaunchCooperativeKernel"}) && !contains(name, "MultiDevice"))
        its.parameters = Traits::LAUNCH;
    else if (begins(name, "cuGraphLaunch")) its.parameters = Traits::GRAPH;
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
    return its;
}

// Null where the driver does not have it.
template <class Function>
Function driver_function(const char* name) {
    void* driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
    return driver ? reinterpret_cast<Function>(dlsym(driver, name)) : nullptr;
}

CUstream default_stream(const Traits& its) { return its.per_thread ? CU_STREAM_PER_THREAD : CU_STREAM_LEGACY; }

CUstream stream_of(const Traits& its, const void* parameters) {
    CUstream stream = nullptr;
    if (its.parameters == Traits::LAUNCH) stream = static_cast<const cuLaunchKernel_params*>(parameters)->hStream;
    if (its.parameters == Traits::LAUNCH_EX)
        stream = static_cast<const cuLaunchKernelEx_params*>(parameters)->config->hStream;
    if (its.parameters == Traits::GRAPH) stream = static_cast<const cuGraphLaunch_params*>(parameters)->hStream;
    return stream ? stream : default_stream(its);
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

// False where that cannot be had, or not without harm.
bool wait_for_context() {
    static const auto wait_for = driver_function<CUresult (*)()>("cuCtxSynchronize");
    return wait_for && captures.load() == 0 && wait_for() == CUDA_SUCCESS;
}

// Whether the stream's work is done, within a while.
bool is_soon_done(CUstream stream) {
    static const auto query = driver_function<CUresult (*)(CUstream)>("cuStreamQuery");
    if (!query) return false;
    // Another thread may begin a capture meanwhile.
    for (const Nanoseconds deadline = clock_now() + SETTLE_NS; captures.load() == 0 && clock_now() < deadline;) {
        const CUresult found = query(stream);
        if (found != CUDA_ERROR_NOT_READY) return found == CUDA_SUCCESS;
        const timespec pause{0, SETTLE_LOOK_NS};
        nanosleep(&pause, nullptr);
    }
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

// The driver loads code when it is first launched. That takes up to some tenths of a second, for which others need not
// wait. Launches take kernels of libraries too, which have their functions in the context.
void load(CUfunction function) {
    static const auto load_function = driver_function<CUresult (*)(CUfunction)>("cuFuncLoad");
    static const auto get_function = driver_function<CUresult (*)(CUfunction*, CUkernel)>("cuKernelGetFunction");
    if (!load_function || captures.load() != 0 || load_function(function) == CUDA_SUCCESS || !get_function) return;
    CUfunction its = nullptr;
    if (get_function(&its, reinterpret_cast<CUkernel>(function)) == CUDA_SUCCESS) load_function(its);
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

// Likewise: what the call itself takes, while other programs start, is much longer than what it waits for.
void free_without_turn(bool enters) {
    const bool keeps = keep_turn(enters, false);
    if (keeps && wait_for_context()) keep_turn(false, true);
}

void enter(const Traits& its, const void* parameters) {
    const CUfunction function = parameters ? function_of(its, parameters) : nullptr;
    if (function && is_new(function)) load(function);
    gate().enter([&] { return is_soon_done(parameters ? stream_of(its, parameters) : default_stream(its)); });
}

// An end that is refused leaves the capture as it was, but for one that says how the capture itself went wrong.
bool has_ended(CUresult ended) {
    return ended == CUDA_SUCCESS || ended == CUDA_ERROR_STREAM_CAPTURE_INVALIDATED ||
           ended == CUDA_ERROR_STREAM_CAPTURE_UNMATCHED || ended == CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
}

void count_captures(const Traits& its, const CUpti_CallbackData* call) {
    const auto* result = static_cast<const CUresult*>(call->functionReturnValue);
    if (call->callbackSite == CUPTI_API_ENTER || !result) return;
    if (its.begins_capture && *result == CUDA_SUCCESS) ++captures;
    else if (its.ends_capture && has_ended(*result) && captures.load() > 0) --captures;
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
    } else if (its.crosses && !copies_need_turns && is_long_copy(call)) {
        copy_without_turn(its, enters);
    } else if (its.frees) {
        free_without_turn(enters);
    } else if (its.waits && enters) {
        gate().attend();
    } else if (its.uses && enters) {
        enter(its, call->functionParams);
    } else if (its.waits || its.uses) {
        gate().leave(its.settles);
    }
}

}  // namespace podium
