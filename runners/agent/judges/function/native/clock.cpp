// libpodium_clock: one timed call of a contestant, as the checker makes it (clock.py loads this library).
//
// The order is the protocol. While the contestant is stopped: outputs poisoned, inputs written but for a secret set of
// cache lines, caches cleared. Then the clock starts; the missing lines are written, the contestant is let go and
// answers. On a CPU some secret lines of the outputs are copied at once, which ends the clock; then the contestant is
// stopped while the rest is copied in a secret order. On a GPU the clock ends when the outputs are copied:
// work of two processes does not overlap there. So an early start finds incomplete inputs, and an early answer leaves
// incomplete outputs. A go may have a call for each of several input sets; or each set has a go of its own, one right after
// the other. Nothing of C++'s library is used.
#include "device_writes.h"

#include <cstdlib>
#if defined(__x86_64__)
#include <emmintrin.h>
#endif

namespace {

constexpr uint64_t kLine = 64, kScatter = 256;  // one line of every kScatter is secret
constexpr uint64_t kBlock = 4096;               // of an output's copy
constexpr uint64_t kSpinNs = 60000, kGpuSpinNs = 20000000;
constexpr int kBrakeMs = 5000;

struct BrakeAnswer {
    uint32_t is_stopped, tasks;
    uint64_t ran_ns;
};

bool order(int brake, char what) { return send(brake, &what, 1, MSG_NOSIGNAL) == 1; }

bool hear(int brake, BrakeAnswer& seen) {
    pollfd line{brake, POLLIN, 0};
    if (poll(&line, 1, kBrakeMs) <= 0) return false;
    return recv(brake, &seen, sizeof seen, 0) == sizeof seen;
}

bool ask(int brake, char what, BrakeAnswer& seen) { return order(brake, what) && hear(brake, seen); }

// The secret lines of a region: one in every block of kScatter lines.
template <typename Visit>
void each_secret_line(const Region& region, uint64_t secret, uint64_t line, Visit visit) {
    const uint64_t block = kScatter * line;
    for (uint64_t start = 0; start < region.size; start += block) {
        const uint64_t lines = (region.size - start < block ? region.size - start + line - 1 : block) / line;
        const uint64_t at = start + next_random(secret) % lines * line;
        visit(at, region.size - at < line ? region.size - at : line);
    }
}

void write_on_cpu(const Region& region, const Call& call) {
    if (region.content == nullptr) {
        memset(region.shared, static_cast<int>(call.poison), region.size);
        return;
    }
    memcpy(region.shared, region.content, region.size);
    if (call.copies_all) memset(region.shared, static_cast<int>(call.poison), region.size);
    else
        each_secret_line(region, secret_of(region, call), kLine, [&](uint64_t at, uint64_t size) {
            const auto* from = static_cast<const unsigned char*>(region.content) + at;
            auto* to = static_cast<unsigned char*>(region.shared) + at;
            for (uint64_t byte = 0; byte < size; ++byte) to[byte] = static_cast<unsigned char>(~from[byte]);
        });
}

// So that the contestant finds it in the caches no more than what was written before the clock.
void copy_past_caches(const Region& region) {
    uint64_t done = 0;
#if defined(__x86_64__)
    auto* to = static_cast<__m128i*>(region.shared);
    const auto* from = static_cast<const __m128i*>(region.content);
    for (; done + sizeof *to <= region.size; done += sizeof *to) _mm_stream_si128(to++, _mm_loadu_si128(from++));
    _mm_sfence();
#endif
    memcpy(static_cast<char*>(region.shared) + done, static_cast<const char*>(region.content) + done,
           region.size - done);
}

void complete_on_cpu(const Region& region, const Call& call) {
    if (region.content == nullptr) return;
    if (call.copies_all) copy_past_caches(region);
    else
        each_secret_line(region, secret_of(region, call), kLine, [&](uint64_t at, uint64_t size) {
            memcpy(static_cast<char*>(region.shared) + at, static_cast<const char*>(region.content) + at, size);
        });
}

void clear_from_caches(const Region& region) {
#if defined(__x86_64__)
    const auto* start = static_cast<const char*>(region.shared);
    for (uint64_t at = 0; at < region.size; at += kLine) _mm_clflush(start + at);
    _mm_mfence();
#elif defined(__aarch64__)
    const auto* start = static_cast<const char*>(region.shared);
    for (uint64_t at = 0; at < region.size; at += kLine) asm volatile("dc civac, %0" ::"r"(start + at) : "memory");
    asm volatile("dsb sy" ::: "memory");
#endif
}

bool prepare(const Call& call) {
    bool well = true;
    for (uint32_t index = 0; index < call.n_regions; ++index) {
        if (call.on_gpu) well = well && write_on_gpu(call.regions[index], call);
        else {
            write_on_cpu(call.regions[index], call);
            clear_from_caches(call.regions[index]);
        }
    }
    if (!call.on_gpu) return true;
    if (call.flush_size > 0)
        well = well && gpu::fill(call.flush, static_cast<uint32_t>(call.index & 0xFF), call.flush_size);
    return well && gpu::finish();
}

bool complete(const Call& call, uint64_t go) {
    bool well = true;
    for (uint32_t index = 0; index < call.n_regions; ++index) {
        if (call.regions[index].go != go) continue;
        if (call.on_gpu) well = well && complete_on_gpu(call.regions[index], call);
        else complete_on_cpu(call.regions[index], call);
    }
    return !call.on_gpu || (well && gpu::finish());
}

bool take_outputs_on_gpu(const Call& call, uint64_t go) {
    bool well = true;
    for (uint32_t index = 0; index < call.n_regions; ++index) {
        const Region& region = call.regions[index];
        if (region.go == go) well = well && take_output_on_gpu(region);
    }
    return well && gpu::finish();
}

uint64_t blocks_of(const Region& region, uint64_t go) {
    return region.copy == nullptr || region.go != go ? 0 : (region.size + kBlock - 1) / kBlock;
}

uint64_t common_divisor(uint64_t left, uint64_t right) {
    return right == 0 ? left : common_divisor(right, left % right);
}

// Copies all outputs of a go in blocks, each at a time that the contestant cannot know. Timers may continue it for
// milliseconds after its answer, and half of the work may be in one line: what is written after its block was copied is
// lost.
void take_outputs_on_cpu(const Call& call, uint64_t go) {
    uint64_t secret = call.secret ^ 0x5DEECE66Du, blocks = 0;
    for (uint32_t index = 0; index < call.n_regions; ++index) blocks += blocks_of(call.regions[index], go);
    if (blocks == 0) return;
    uint64_t stride = next_random(secret) % blocks, next = next_random(secret) % blocks;
    while (common_divisor(stride, blocks) != 1) ++stride;
    for (uint64_t count = 0; count < blocks; ++count, next = (next + stride) % blocks) {
        const Region* region = call.regions;
        uint64_t block = next;
        for (; block >= blocks_of(*region, go); ++region) block -= blocks_of(*region, go);
        const uint64_t at = block * kBlock, left = region->size - at;
        memcpy(static_cast<char*>(region->copy) + at, static_cast<const char*>(region->shared) + at,
               left < kBlock ? left : kBlock);
    }
}

// What secret lines of each output held when the contestant answered, or all lines of a small one. It may go on for a
// moment until it is stopped, and for milliseconds if timers continue it; a line that it writes then counts as it was.
// An ordered copy would not do: work can go on just ahead of it. Nor would lines of all outputs together: a small output
// beside a large one would go unseen, and half of the work may be in it.
class Probes {
public:
    explicit Probes(const Call& call) {
        uint64_t secret = ~call.secret;
        probes_ = static_cast<Probe*>(malloc(sizeof(Probe) * kProbes * call.n_regions));
        if (probes_ == nullptr) abort();
        for (uint32_t index = 0; index < call.n_regions; ++index)
            if (call.regions[index].copy != nullptr) choose(call.regions[index], secret);
    }
    ~Probes() { free(probes_); }
    Probes(const Probes&) = delete;
    Probes& operator=(const Probes&) = delete;
    void take(uint64_t go) {
        for (uint64_t index = 0; index < count_; ++index)
            if (probes_[index].go == go) memcpy(probes_[index].seen, probes_[index].shared, probes_[index].size);
    }
    void give() const {
        for (uint64_t index = 0; index < count_; ++index)
            memcpy(probes_[index].copy, probes_[index].seen, probes_[index].size);
    }

private:
    static constexpr uint64_t kProbes = 64;  // of each output
    struct Probe {
        const char* shared;
        char* copy;
        uint64_t size, go;
        char seen[kLine];
    };

    void choose(const Region& region, uint64_t& secret) {
        const uint64_t lines = (region.size + kLine - 1) / kLine;
        for (uint64_t index = 0; index < kProbes && index < lines; ++index) {
            const uint64_t at = (lines <= kProbes ? index : next_random(secret) % lines) * kLine,
                           left = region.size - at;
            probes_[count_++] = {static_cast<const char*>(region.shared) + at,
                                 static_cast<char*>(region.copy) + at,
                                 left < kLine ? left : kLine,
                                 region.go,
                                 {}};
        }
    }

    Probe* probes_;
    uint64_t count_ = 0;
};

Status why_not_stopped(const Call& call) {
    char byte;
    return recv(call.channel, &byte, 1, MSG_DONTWAIT | MSG_PEEK) == 0 ? kGone : kNotStopped;
}

// What the contestant has answered early in one of several goes it could finish during the next, so all outputs of such
// a go are copied before the next one.
Status timed_go(const Call& call, uint32_t index, Probes& probes, Times& times) {
    char message[sizeof(Head) + 2000];
    const auto n_calls = static_cast<uint8_t>(call.n_calls), first = static_cast<uint8_t>(index * call.n_calls);
    const Head go{{'P', 'D', 'F', '1'}, 'G', n_calls, first, 0, call.index + index};
    const uint64_t began = now_ns();
    if (!complete(call, index)) return kDeviceFault;
    const uint64_t started = now_ns();
    if (const Status sent = send_go(call, go); sent != kDone) return sent;
    const char start = 'g';
    if (index == 0 && call.brake >= 0 && send(call.brake, &start, 1, MSG_NOSIGNAL) != 1) return kNotStopped;
    if (times.go_ns > call.timeout_ns) return kLate;
    const uint64_t spin_ns = call.on_gpu ? kGpuSpinNs : kSpinNs;  // on a CPU the contestant may need this core
    const ssize_t got = await(call.channel, message, sizeof message, call.timeout_ns - times.go_ns, spin_ns);
    const uint64_t answered = now_ns();
    const Status status = status_of('d', go.index, message, got, times);
    if (status != kDone) return status;
    if (call.on_gpu && !take_outputs_on_gpu(call, index)) return kDeviceFault;
    if (!call.on_gpu) probes.take(index);
    if (!call.on_gpu && call.n_goes > 1) take_outputs_on_cpu(call, index);
    const uint64_t ended = now_ns();
    times.copy_ns += ended - answered;
    times.clock_ns += ended - began;
    times.each_ns[index] = (call.on_gpu ? ended : answered) - began;
    times.complete_ns += started - began;
    times.go_ns += answered - started;
    return kDone;
}

Status timed(const Call& call, Times& times) {
    Probes probes(call);
    for (uint32_t index = 0; index < call.n_goes; ++index)
        if (const Status status = timed_go(call, index, probes, times); status != kDone) return status;
    if (call.on_gpu) return kDone;
    BrakeAnswer seen{};
    if (call.brake >= 0 && !order(call.brake, 's')) return why_not_stopped(call);
    if (call.n_goes == 1) take_outputs_on_cpu(call, 0);
    probes.give();
    if (call.brake >= 0 && !(hear(call.brake, seen) && seen.is_stopped)) return why_not_stopped(call);
    return kDone;
}

}  // namespace

extern "C" {

// Stops the contestant. Returns 1 once it is seen stopped.
int podium_stop(int brake) {
    BrakeAnswer seen{};
    return ask(brake, 's', seen) && seen.is_stopped;
}

void podium_let_go(int brake) {
    const char start = 'g';
    send(brake, &start, 1, MSG_NOSIGNAL);
}

int podium_open_driver(char* words, uint64_t size) { return gpu::open(words, size); }

// Afterwards the contestant is stopped again, so that nothing of it runs while the answers are checked.
void podium_call_once(const Call* call, Times* times) {
    memset(times, 0, sizeof *times);
    BrakeAnswer stopped{}, still{};
    const uint64_t began = now_ns();
    if (call->brake >= 0 && !(ask(call->brake, 's', stopped) && stopped.is_stopped)) {
        times->status = why_not_stopped(*call);
        return;
    }
    if (!prepare(*call)) {
        times->status = kDeviceFault;
        return;
    }
    if (call->brake >= 0) {
        if (!ask(call->brake, 'v', still)) {
            times->status = kGone;
            return;
        }
        if (!still.is_stopped || still.ran_ns != stopped.ran_ns) {
            times->status = kNotStopped;
            return;
        }
    }
    times->prepare_ns = now_ns() - began;
    times->status = timed(*call, *times);
    if (call->on_gpu && call->brake >= 0 && times->status == kDone) ask(call->brake, 's', still);
}

}  // extern "C"
