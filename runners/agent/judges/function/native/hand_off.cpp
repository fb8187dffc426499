// One call of a contestant on a GPU, timed by the checker's own events on the device (clock.py loads this library).
//
// The contestant queues its work behind a wait for the go word and says so. Only then the checker's stream writes the
// inputs but for their secret lines, clears the caches, writes those lines, stamps, and writes the word. It waits for the
// done word, reads secret lines of every output, stamps, and copies the outputs.
//
// The two processes' kernels never overlap on a device: it changes from one to the other when that has no work left, or
// after 2 ms. So the done word may come before the work, and does where that is shorter: it costs 3 us behind it, which an
// early word would gain. What takes longer, or leaves its end to a copy engine, tells its end.
// An early start finds incomplete inputs; an early word where the work goes on leaves lines that were read too early, or an
// incomplete copy; and work that runs before the go word lengthens the checker's own, whose length is known.
#include "device_writes.h"

#include <cstdlib>

namespace {

constexpr int kKnownFills = 4;            // of the memory that clears the caches, so that the known work is long enough
constexpr uint64_t kQueueNs = 500000000;  // within which all work must be queued
constexpr uint64_t kSpinNs = 20000000;
constexpr uint64_t kReleaseNs = 1000000000;  // after which the contestant that was let go is late
constexpr uint32_t kProbes = 64;             // of each output

struct Probe {
    uint64_t from, to, size;
};

// Each block of the first copies one line: threads copy a byte each.
constexpr char kKernels[] = R"(
.version 6.3
.target sm_75
.address_size 64
.visible .entry podium_probe(.param .u64 table) {
    .reg .pred %outside;
    .reg .u16 %byte;
    .reg .u32 %block, %thread;
    .reg .u64 %entry, %offset, %from, %to, %size;
    ld.param.u64 %entry, [table];
    mov.u32 %block, %ctaid.x;
    mov.u32 %thread, %tid.x;
    mad.wide.u32 %entry, %block, 24, %entry;
    cvt.u64.u32 %offset, %thread;
    ld.global.u64 %size, [%entry+16];
    setp.ge.u64 %outside, %offset, %size;
    @%outside ret;
    ld.global.u64 %from, [%entry];
    ld.global.u64 %to, [%entry+8];
    add.u64 %from, %from, %offset;
    add.u64 %to, %to, %offset;
    ld.global.u8 %byte, [%from];
    st.global.u8 [%to], %byte;
    ret;
}
)";

// What the checker keeps on the device from call to call.
struct Device {
    void* stream = nullptr;
    void* release = nullptr;  // another stream, which goes on while the first waits
    void* probe_kernel = nullptr;
    enum { kBegan, kWord, kDone, kCopied, kEvents };
    void* events[kEvents] = {};
    gpu::Pointer tables = 0, seen = 0;  // for kMostProbes: both ways, and the lines
};
constexpr uint32_t kMostProbes = 64 * kProbes;
Device device;

bool take_lines(uint32_t count, bool back) {
    gpu::Pointer table = device.tables + (back ? kMostProbes * sizeof(Probe) : 0);
    void* parameters[] = {&table};
    return count == 0 ||
           gpu::launch(device.probe_kernel, count, 1, 1, kGpuLine, 1, 1, 0, device.stream, parameters, nullptr) == 0;
}

// Secret lines of each output, or all lines of a small one, are read as they are when the word comes: what comes later
// would count as it was then.
bool choose_lines(const Call& call, uint32_t& count) {
    static Probe tables[2][kMostProbes];
    uint64_t secret = ~call.secret;
    count = 0;
    for (uint32_t index = 0; index < call.n_regions; ++index) {
        const Region& region = call.regions[index];
        if (region.copy == nullptr) continue;
        const uint64_t lines = (region.size + kGpuLine - 1) / kGpuLine;
        for (uint64_t line = 0; line < kProbes && line < lines && count < kMostProbes; ++line, ++count) {
            const uint64_t at = (lines <= kProbes ? line : next_random(secret) % lines) * kGpuLine,
                           left = region.size - at;
            const uint64_t seen = device.seen + count * kGpuLine, size = left < kGpuLine ? left : kGpuLine;
            tables[0][count] = {gpu::at(region.shared) + at, seen, size};
            tables[1][count] = {seen, gpu::at(region.copy) + at, size};
        }
    }
    return gpu::copy_in(device.tables, tables, sizeof tables) == 0;
}

bool mark(int event) { return gpu::event_record(device.events[event], device.stream) == 0; }

// The checker's work before its word, which is as long as it is on an idle device.
bool queue_known_work(const Call& call) {
    bool well = mark(Device::kBegan);
    const auto byte = static_cast<uint32_t>(call.index & 0xFF);
    for (int count = 0; count < kKnownFills; ++count)
        well = well && gpu::fill(call.flush, ~byte & 0xFF, call.flush_size);
    for (uint32_t index = 0; index < call.n_regions; ++index) well = well && write_on_gpu(call.regions[index], call);
    well = well && gpu::fill(call.flush, byte, call.flush_size);
    for (uint32_t index = 0; index < call.n_regions; ++index) well = well && complete_on_gpu(call.regions[index], call);
    return well;
}

bool queue_all(const Call& call, uint32_t n_lines) {
    const auto word = static_cast<uint32_t>(call.index);
    bool well = queue_known_work(call) && mark(Device::kWord) &&
                gpu::write_word(device.stream, call.go_word, word, 0) == 0 &&
                gpu::wait_word(device.stream, call.done_word, word, gpu::kEqual) == 0 && take_lines(n_lines, false) &&
                mark(Device::kDone);
    for (uint32_t index = 0; index < call.n_regions; ++index) well = well && take_output_on_gpu(call.regions[index]);
    return well && take_lines(n_lines, true) && mark(Device::kCopied);
}

// Lets both sides go on, whatever the contestant has or has not done.
bool release(const Call& call) {
    const auto word = static_cast<uint32_t>(call.index);
    return gpu::write_word(device.release, call.go_word, word, 0) == 0 &&
           gpu::write_word(device.release, call.done_word, word, 0) == 0 && gpu::stream_finish(device.stream) == 0;
}

// Until the outputs are copied, or the contestant ends or says what went wrong.
Status await_copies(const Call& call, uint64_t deadline_ns, Times& times) {
    char message[sizeof(Head) + 2000];
    for (uint64_t look = 0;; ++look) {
        const int status = gpu::event_query(device.events[Device::kCopied]);
        if (status == 0) return kDone;
        if (status != gpu::kNotReady) return kDeviceFault;
        if (look % 64 != 0) continue;
        const ssize_t got = recv(call.channel, message, sizeof message, MSG_DONTWAIT | MSG_PEEK);
        if (got == 0 || (got < 0 && errno == ECONNRESET)) return kGone;
        Head head{};
        if (got >= static_cast<ssize_t>(sizeof head)) memcpy(&head, message, sizeof head);
        if (head.kind == 'X') return status_of('d', call.index, message, got, times);
        if (now_ns() > deadline_ns) return kLate;
        if (look > 200000) {
            const timespec pause{0, 50000};
            nanosleep(&pause, nullptr);
        }
    }
}

uint64_t between_ns(int from, int to) {
    float ms = 0;
    if (gpu::elapsed(&ms, device.events[from], device.events[to]) != 0 || !(ms > 0)) return 0;
    return static_cast<uint64_t>(static_cast<double>(ms) * 1e6);
}

Status handed_off(const Call& call, Times& times) {
    char message[sizeof(Head) + 2000];
    uint32_t n_lines = 0;
    if (!choose_lines(call, n_lines)) return kDeviceFault;
    const uint64_t began = now_ns(), deadline_ns = began + call.timeout_ns;
    const Head go{{'P', 'D', 'F', '1'}, 'H', 1, static_cast<uint8_t>(call.word_last), 0, call.index};
    if (const Status sent = send_go(call, go); sent != kDone) return sent;
    const uint64_t within_ns = kQueueNs < call.timeout_ns ? kQueueNs : call.timeout_ns;
    ssize_t got = await(call.channel, message, sizeof message, within_ns, kSpinNs);
    times.is_queued = got != -2;
    if (times.is_queued) {
        if (const Status queued = status_of('q', call.index, message, got, times); queued != kDone) return queued;
        times.queue_ns = now_ns() - began;
    }
    if (!queue_all(call, n_lines)) return kDeviceFault;
    if (const Status copied = await_copies(call, deadline_ns, times); copied != kDone) {
        return copied != kDeviceFault && release(call) ? copied : kDeviceFault;
    }
    for (;;) {
        const uint64_t now = now_ns(), least_ns = now + kReleaseNs,
                       until = deadline_ns > least_ns ? deadline_ns : least_ns;
        got = await(call.channel, message, sizeof message, until - now, kSpinNs);
        const bool is_late_word =
            !times.is_queued && times.queue_ns == 0 && status_of('q', call.index, message, got, times) == kDone;
        if (!is_late_word) break;
        times.queue_ns = now_ns() - began;
    }
    if (const Status done = status_of('d', call.index, message, got, times); done != kDone) return done;
    times.clock_ns = between_ns(Device::kWord, Device::kDone);
    times.known_ns = between_ns(Device::kBegan, Device::kWord);
    times.wide_ns = between_ns(Device::kWord, Device::kCopied);
    return times.clock_ns > 0 && times.known_ns > 0 ? kDone : kDeviceFault;
}

}  // namespace

extern "C" {

// What hand-offs need on the device, in the present context. 1 if it is there.
int podium_open_hand_off() {
    void* module = nullptr;
    bool well = gpu::stream_create(&device.stream, 1) == 0 && gpu::stream_create(&device.release, 1) == 0 &&
                gpu::module_load(&module, kKernels) == 0 &&
                gpu::module_function(&device.probe_kernel, module, "podium_probe") == 0 &&
                gpu::allocate(&device.tables, 2 * kMostProbes * sizeof(Probe)) == 0 &&
                gpu::allocate(&device.seen, kMostProbes * kGpuLine) == 0;
    for (void*& event : device.events) well = well && gpu::event_create(&event, 0) == 0;
    return well;
}

// The contestant is not stopped: what it does before the word is in the known work, and what it does after its word
// counts for nothing.
void podium_hand_off(const Call* call, Times* times) {
    memset(times, 0, sizeof *times);
    const uint64_t began = now_ns();
    gpu::stream = device.stream;
    times->status = handed_off(*call, *times);
    gpu::stream = nullptr;
    times->go_ns = now_ns() - began;
}

}  // extern "C"
