// Stands for NVIDIA's libcupti and the GPU behind it, neither of which works without a device: as much of its interface
// as libpodium_cupti.so uses, and `fake_…` for a program to say what its device does.
#include <cupti.h>
#include <time.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>
#include <deque>
#include <mutex>
#include <string_view>

namespace {

std::mutex lock;
CUpti_CallbackFunc callback = nullptr;
CUpti_BuffersCallbackRequestFunc request = nullptr;
CUpti_BuffersCallbackCompleteFunc complete = nullptr;
CUpti_TimestampCallbackFunc clock_of_client = nullptr;
std::deque<CUpti_ActivityKernel10> pending;
std::uint32_t correlation = 0;
bool is_recording = false, is_serial = false, is_subscribed = true;

constexpr CUpti_CallbackId LAUNCH = 1, RESET = 2, COPY = 3, WAIT = 4, FREE = 5, CAPTURE = 6, END_CAPTURE = 7, GRAPH = 8, FILL = 9,
                           LAUNCH_EX = 10, PER_THREAD = 11, PEER = 12, DESTROY = 13;

void call(CUpti_CallbackDomain domain, CUpti_CallbackId id, CUpti_ApiCallbackSite site, const void* parameters = nullptr,
          int result = 0) {
    CUpti_CallbackData data{};
    data.callbackSite = site;
    data.correlationId = correlation;
    data.functionParams = parameters;
    data.functionReturnValue = &result;
    callback(nullptr, domain, id, &data);
}

static_assert(offsetof(CUpti_ActivityMemcpy6, end) == offsetof(CUpti_ActivityKernel10, end) &&
              offsetof(CUpti_ActivityMemset4, end) == offsetof(CUpti_ActivityKernel10, end));

std::uint64_t now_ns() {
    if (clock_of_client != nullptr) return clock_of_client();
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * 1000000000u + static_cast<std::uint64_t>(now.tv_nsec);
}

CUpti_ActivityKernel10 finished(CUpti_ActivityKernel10 kernel, std::uint64_t now) {
    if (kernel.end > now) kernel.start = kernel.end = 0;
    return kernel;
}

}  // namespace

extern "C" {

void fake_context() { callback(nullptr, CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_CONTEXT_CREATED, nullptr); }

void fake_launch(std::uint64_t starts_in_ns, std::uint64_t lasts_ns) {
    ++correlation;
    call(CUPTI_CB_DOMAIN_RUNTIME_API, LAUNCH, CUPTI_API_ENTER);
    cuLaunchKernel_params launch{};
    launch.f = reinterpret_cast<CUfunction>(std::uintptr_t{0x1230});
    launch.hStream = reinterpret_cast<CUstream>(std::uintptr_t{0x70});
    call(CUPTI_CB_DOMAIN_DRIVER_API, LAUNCH, CUPTI_API_ENTER, &launch);
    if (is_recording) {
        const std::lock_guard<std::mutex> guard(lock);
        CUpti_ActivityKernel10 kernel{};
        kernel.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
        kernel.correlationId = correlation;
        kernel.name = "_Z4spinx";
        kernel.start = clock_of_client() + starts_in_ns;
        kernel.end = kernel.start + lasts_ns;
        pending.push_back(kernel);
    }
    call(CUPTI_CB_DOMAIN_DRIVER_API, LAUNCH, CUPTI_API_EXIT, &launch);
    call(CUPTI_CB_DOMAIN_RUNTIME_API, LAUNCH, CUPTI_API_EXIT);
}

void fake_copy(std::uint64_t bytes) {
    const cuMemcpyHtoD_v2_params copy{0, nullptr, static_cast<std::size_t>(bytes)};
    ++correlation;
    for (const auto site : {CUPTI_API_ENTER, CUPTI_API_EXIT}) call(CUPTI_CB_DOMAIN_DRIVER_API, COPY, site, &copy);
}

void fake_wait() {
    for (const auto site : {CUPTI_API_ENTER, CUPTI_API_EXIT}) call(CUPTI_CB_DOMAIN_DRIVER_API, WAIT, site);
}

void fake_free(std::uint64_t lasts_us) {
    call(CUPTI_CB_DOMAIN_DRIVER_API, FREE, CUPTI_API_ENTER);
    usleep(static_cast<useconds_t>(lasts_us));
    call(CUPTI_CB_DOMAIN_DRIVER_API, FREE, CUPTI_API_EXIT);
}

void fake_capture(std::uint32_t begins, int result) {
    const CUpti_CallbackId id = begins ? CAPTURE : END_CAPTURE;
    for (const auto site : {CUPTI_API_ENTER, CUPTI_API_EXIT}) call(CUPTI_CB_DOMAIN_DRIVER_API, id, site, nullptr, result);
}

// One call that names a stream, each in its own way; a launch for a thread's default stream names none.
void fake_use(const char* name, std::uint64_t stream_number) {
    const CUstream stream = reinterpret_cast<CUstream>(stream_number);
    const std::string_view how = name;
    CUlaunchConfig config{};
    config.hStream = stream;
    const cuGraphLaunch_params graph{nullptr, stream};
    const cuMemsetD8Async_params fill{0, 0, 0, stream};
    const cuLaunchKernelEx_params launch{&config, nullptr, nullptr, nullptr};
    const cuLaunchKernel_params plain{};
    const cuMemcpyPeerAsync_params peer{0, nullptr, 0, nullptr, 0, stream};
    const cuStreamDestroy_v2_params gone{stream};
    const auto both = [](CUpti_CallbackId id, const void* parameters) {
        for (const auto site : {CUPTI_API_ENTER, CUPTI_API_EXIT}) call(CUPTI_CB_DOMAIN_DRIVER_API, id, site, parameters);
    };
    if (how == "graph") both(GRAPH, &graph);
    if (how == "fill") both(FILL, &fill);
    if (how == "launch") both(LAUNCH_EX, &launch);
    if (how == "per thread") both(PER_THREAD, &plain);
    if (how == "peer") both(PEER, &peer);
    if (how == "destroy") both(DESTROY, &gone);
}

// Where kernels are run one at a time, only one of a graph's records has times.
void fake_graph(std::uint64_t kernels, std::uint64_t each_ns) {
    ++correlation;
    const cuGraphLaunch_params graph{};
    call(CUPTI_CB_DOMAIN_DRIVER_API, GRAPH, CUPTI_API_ENTER, &graph);
    for (std::uint64_t i = 0; i < kernels; ++i) {
        const std::lock_guard<std::mutex> guard(lock);
        CUpti_ActivityKernel10 kernel{};
        kernel.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
        kernel.correlationId = correlation;
        kernel.name = "_Z4spinx";
        if (i == 0 || !is_serial) kernel.start = clock_of_client(), kernel.end = kernel.start + each_ns;
        pending.push_back(kernel);
    }
    call(CUPTI_CB_DOMAIN_DRIVER_API, GRAPH, CUPTI_API_EXIT, &graph);
}

// A record of any kind, as far as its times go. It is complete once its end has passed.
void fake_record(std::uint32_t kind, std::uint64_t start_ns, std::uint64_t end_ns) {
    const std::lock_guard<std::mutex> guard(lock);
    CUpti_ActivityKernel10 record{};
    record.kind = static_cast<CUpti_ActivityKind>(kind);
    record.start = start_ns;
    record.end = end_ns;
    pending.push_back(record);
}

void fake_reset() {
    call(CUPTI_CB_DOMAIN_DRIVER_API, RESET, CUPTI_API_ENTER);
    const std::lock_guard<std::mutex> guard(lock);
    pending.clear();
}

void fake_stop_recording() { is_recording = false; }
void fake_unsubscribe() { is_subscribed = false; }

CUptiResult cuptiSubscribe(CUpti_SubscriberHandle* subscriber, CUpti_CallbackFunc function, void*) {
    callback = function;
    *subscriber = reinterpret_cast<CUpti_SubscriberHandle>(&callback);
    return CUPTI_SUCCESS;
}
CUptiResult cuptiEnableCallback(uint32_t, CUpti_SubscriberHandle, CUpti_CallbackDomain, CUpti_CallbackId) {
    return is_subscribed ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}
CUptiResult cuptiGetCallbackName(CUpti_CallbackDomain domain, uint32_t id, const char** name) {
    const bool is_driver = domain == CUPTI_CB_DOMAIN_DRIVER_API;
    *name = id == LAUNCH ? (is_driver ? "cuLaunchKernel" : "cudaLaunchKernel_v7000")
            : !is_driver ? nullptr
            : id == RESET ? "cuDevicePrimaryCtxReset_v2"
            : id == COPY  ? "cuMemcpyHtoD_v2"
            : id == WAIT  ? "cuCtxSynchronize"
            : id == FREE  ? "cuMemFree_v2"
            : id == CAPTURE     ? "cuStreamBeginCapture_v2"
            : id == END_CAPTURE ? "cuStreamEndCapture"
            : id == GRAPH       ? "cuGraphLaunch"
            : id == FILL        ? "cuMemsetD8Async"
            : id == LAUNCH_EX   ? "cuLaunchKernelEx"
            : id == PER_THREAD  ? "cuLaunchKernel_ptsz"
            : id == PEER        ? "cuMemcpyPeerAsync"
            : id == DESTROY     ? "cuStreamDestroy_v2" : nullptr;
    return *name ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}
CUptiResult cuptiActivityRegisterTimestampCallback(CUpti_TimestampCallbackFunc function) {
    clock_of_client = function;
    return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc first, CUpti_BuffersCallbackCompleteFunc second) {
    request = first, complete = second;
    return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind) {
    is_recording = true;
    is_serial = is_serial || kind == CUPTI_ACTIVITY_KIND_KERNEL;
    return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityFlushPeriod(uint32_t) { return CUPTI_SUCCESS; }
CUptiResult cuptiActivityFlushAll(uint32_t flag) {
    const std::lock_guard<std::mutex> guard(lock);
    const std::uint64_t now = now_ns();
    std::uint8_t* buffer = nullptr;
    std::size_t size = 0, most = 0, filled = 0;
    request(&buffer, &size, &most);
    while (!pending.empty() && (flag != 0 || pending.front().end <= now)) {
        const auto kernel = finished(pending.front(), now);
        std::memcpy(buffer + filled, &kernel, sizeof kernel);
        filled += sizeof kernel;
        pending.pop_front();
    }
    complete(nullptr, 0, buffer, size, filled);
    return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityGetNextRecord(uint8_t* buffer, size_t filled, CUpti_Activity** record) {
    auto* next = *record ? reinterpret_cast<std::uint8_t*>(*record) + sizeof(CUpti_ActivityKernel10) : buffer;
    if (next >= buffer + filled) return CUPTI_ERROR_MAX_LIMIT_REACHED;
    *record = reinterpret_cast<CUpti_Activity*>(next);
    return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext, uint32_t, size_t* dropped) {
    *dropped = 0;
    return CUPTI_SUCCESS;
}

}  // extern "C"
