// Makes a run wait, before its first work on the device and after every pause, until the node gives it the device.
//
// The page is a file that the node shares with all processes of one run. The porter (devices/gate_native) and
// devices/gate.py use the same layout. The gate protects the times of other runs. It guards no secret, and a program
// that ignores it gains nothing.
#pragma once

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>

namespace podium {

struct GatePage {
    std::atomic<uint32_t> open;         // written by the node: 1 while the run has the device
    std::atomic<uint32_t> waiting;      // number of threads that wait at the gate
    std::atomic<uint32_t> in_progress;  // number of calls that use the device or wait for it now
    std::atomic<uint32_t> unsettled;    // 1 while earlier work of the run may still be on the device
    std::atomic<uint64_t> last_use_ns;  // time of the last use, by CLOCK_MONOTONIC
    // Numbers of CUDA starts in the run's processes: requested, granted by the node, done.
    std::atomic<uint32_t> starts_wanted, starts_granted, starts_done;
    std::atomic<uint32_t> never_stops;  // 1 once some work did not end by itself; the node does not recall such a run
};
static_assert(sizeof(GatePage) == 40, "the node reads these 40 bytes");

class Gate {
public:
    // If the file is missing or cannot be mapped, every call passes the gate.
    explicit Gate(const char* path) {
        const int file = path && *path ? ::open(path, O_RDWR | O_CLOEXEC) : -1;
        if (file < 0) return;
        void* page = ::mmap(nullptr, sizeof(GatePage), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        ::close(file);
        if (page != MAP_FAILED) page_ = static_cast<GatePage*>(page);
    }

    bool in_use() const { return page_ != nullptr; }

    // Call before this process makes its first context. Waits until the node grants the start. The driver makes contexts
    // for one process at a time, and many other calls of all processes wait meanwhile.
    void begin_start() {
        if (!page_ || starts_.exchange(true)) return;
        const uint32_t ticket = page_->starts_wanted.fetch_add(1) + 1;
        wait(page_->starts_granted, [&](uint32_t granted) { return static_cast<int32_t>(granted - ticket) >= 0; });
    }

    // Call after this process has made a context. Only the first call has an effect.
    void end_start() {
        if (page_ && starts_.load() && !started_.exchange(true)) page_->starts_done.fetch_add(1);
    }

    // Call before a driver call that uses the device. Returns once the run has the device. If the node recalled the turn
    // while earlier work was unfinished, `settle` waits for that work and returns whether it is done.
    template <class Settle>
    void enter(Settle settle) {
        if (!page_) return;
        page_->in_progress.fetch_add(1);
        if (!page_->open.load()) {
            if (page_->unsettled.load() && settle()) page_->unsettled.store(0);
            page_->waiting.fetch_add(1);
            wait(page_->open, [](uint32_t open) { return open != 0; });
            page_->waiting.fetch_sub(1);
        }
        page_->last_use_ns.store(now_ns());
    }

    void enter() {
        enter([] { return false; });
    }

    // Call before a driver call that only waits for the device. It needs no turn, but keeps the turn that the run has.
    void attend() {
        if (page_) page_->in_progress.fetch_add(1);
    }

    // Whether earlier work of the run may still be on the device.
    bool is_unsettled() const { return page_ && page_->unsettled.load(); }

    bool never_stops() const { return page_ && page_->never_stops.load(); }

    void note_never_stops() {
        if (page_) page_->never_stops.store(1);
    }

    // Call after a copy that needed no turn and returned only once all earlier work was done.
    void note_settled() {
        if (page_) page_->unsettled.store(0);
    }

    // Call after a driver call that began with `attend` or `enter`. Leaves `unsettled` unchanged.
    void depart() {
        if (!page_) return;
        page_->last_use_ns.store(now_ns());
        page_->in_progress.fetch_sub(1);
    }

    // The same, and sets `unsettled`. `settles`: the driver call returned only once all earlier work was done.
    void leave(bool settles) {
        if (!page_) return;
        page_->unsettled.store(settles ? 0 : 1);
        depart();
    }

    // The time during which at least one thread of this process waited here.
    uint64_t waited_ns() const {
        const uint64_t before = waited_ns_.load();
        return waiters_.load() ? before + now_ns() - waiting_since_ns_.load() : before;
    }

private:
    // The node wakes the threads that wait for a word when it writes the word. In case it does not, they look every 2 ms.
    template <class Condition>
    void wait(const std::atomic<uint32_t>& word, Condition is_met) {
        if (is_met(word.load())) return;
        if (waiters_.fetch_add(1) == 0) waiting_since_ns_.store(now_ns());
        for (uint32_t seen; !is_met(seen = word.load());) {
            const timespec most{0, 2'000'000};
            ::syscall(SYS_futex, &word, FUTEX_WAIT, seen, &most, nullptr, 0);
        }
        const uint64_t since = waiting_since_ns_.load();
        if (waiters_.fetch_sub(1) == 1) waited_ns_.fetch_add(now_ns() - since);
    }

    static uint64_t now_ns() {
        timespec now{};
        ::clock_gettime(CLOCK_MONOTONIC, &now);
        return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<uint64_t>(now.tv_nsec);
    }

    GatePage* page_ = nullptr;
    std::atomic<bool> starts_{false}, started_{false};
    std::atomic<uint32_t> waiters_{0};
    std::atomic<uint64_t> waiting_since_ns_{0}, waited_ns_{0};
};

}  // namespace podium
