// What one call of a contestant is, for the checker's clocks: clock.cpp by the host, hand_off.cpp by the device.
// Nothing of C++'s library is used.
#pragma once

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <poll.h>
#include <sys/socket.h>

extern "C" {

// One array: what the contestant sees, what it shall hold, and where the checker keeps its copy of the answer.
struct Region {
    void* shared;
    const void* content;  // null for an output
    void* copy;           // null for an input
    uint64_t size;
    uint64_t go;  // in which it takes part
};

struct Call {
    int32_t channel, brake;       // brake -1: the contestant is not stopped (calibration alone)
    uint32_t on_gpu, copies_all;  // copies_all: all inputs are written inside the clock, on a CPU
    uint32_t n_regions, poison;   // byte
    uint32_t n_goes, n_calls;     // one after another, each of so many calls
    uint64_t index, secret, timeout_ns;
    Region* regions;
    void* flush;
    uint64_t flush_size;
    uint64_t go_word, done_word;  // of a hand-off: device addresses
    uint32_t word_last, unused;   // of a hand-off: the done word follows the work
};

enum Status : uint32_t { kDone, kLate, kGone, kError, kNotStopped, kBadAnswer, kDeviceFault };

constexpr uint32_t kMostGoes = 64;

struct Times {
    uint32_t status, is_queued;  // is_queued: of a hand-off, whether all work was queued before the word
    uint64_t clock_ns, complete_ns, go_ns, copy_ns;  // the clock, and its parts in order
    uint64_t prepare_ns;                             // from the stop to the clock
    uint64_t known_ns, wide_ns;   // of a hand-off: the checker's work up to the word, and from there to its last copy
    uint64_t queue_ns;            // of a hand-off, by the host: until all work was queued
    uint64_t each_ns[kMostGoes];  // the clock of each go, on a CPU without the copying
    char words[2000];
};

}  // extern "C"

namespace {

struct Head {
    char magic[4];
    uint8_t kind, count, device, unused;
    uint64_t index;
};

[[maybe_unused]] uint64_t now_ns() {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<uint64_t>(now.tv_sec) * 1000000000u + static_cast<uint64_t>(now.tv_nsec);
}

[[maybe_unused]] uint64_t next_random(uint64_t& state) {  // splitmix64 over the checker's secret
    uint64_t z = (state += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

// Each array has its secret lines at places of its own.
[[maybe_unused]] uint64_t secret_of(const Region& region, const Call& call) {
    return call.secret ^ reinterpret_cast<uintptr_t>(region.shared);
}

// Waits for one message: without sleeping for `spin_ns`, because a wake-up costs as much as a short call.
[[maybe_unused]] ssize_t await(int channel, char* message, size_t size, uint64_t timeout_ns, uint64_t spin_ns) {
    const uint64_t began = now_ns();
    for (;;) {
        const ssize_t got = recv(channel, message, size, MSG_DONTWAIT);
        if (got >= 0 || (errno != EAGAIN && errno != EINTR)) return got < 0 && errno == ECONNRESET ? 0 : got;
        const uint64_t spent = now_ns() - began;
        if (spent > timeout_ns) return -2;
        if (spent < spin_ns) continue;
        pollfd line{channel, POLLIN, 0};
        const uint64_t left_ms = (timeout_ns - spent) / 1000000 + 1;
        poll(&line, 1, static_cast<int>(left_ms < 1000 ? left_ms : 1000));
    }
}

// `kind` is the one that was to come.
[[maybe_unused]] Status status_of(char kind, uint64_t index, const char* message, ssize_t got, Times& times) {
    if (got == -2) return kLate;
    if (got <= 0) return kGone;
    Head head{};
    if (got < static_cast<ssize_t>(sizeof head)) return kBadAnswer;
    memcpy(&head, message, sizeof head);
    if (head.kind == 'X') {
        const size_t length = static_cast<size_t>(got) - sizeof head;
        memcpy(times.words, message + sizeof head, length < sizeof times.words - 1 ? length : sizeof times.words - 1);
        return kError;
    }
    return head.kind == kind && head.index == index ? kDone : kBadAnswer;
}

// A contestant that reads none of its messages would let a send wait without end.
[[maybe_unused]] Status send_go(const Call& call, const Head& go) {
    if (send(call.channel, &go, sizeof go, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0) return kDone;
    return errno == EAGAIN ? kBadAnswer : kGone;
}

}  // namespace
