// Makes a benchmark wait, before its first work on the device and after every pause, until the node gives it the device.
//
// The page is a file that the node shares with all processes of one run. The porter (devices/gate_native) and
// devices/gate.py are its other side and have the same layout. The gate keeps others' times quiet; it guards no secret,
// and a program that ignores it gains nothing for itself.
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
    std::atomic<uint32_t> waiting;      // threads that wait now
    std::atomic<uint32_t> in_progress;  // calls that use the device now, waits for it included
    std::atomic<uint32_t> unsettled;    // 1 while work may run on the device that nobody has waited for
    std::atomic<uint64_t> last_use_ns;  // CLOCK_MONOTONIC
    // Starts of CUDA in the run's processes: how many were asked for, granted by the node, and are done.
    std::atomic<uint32_t> starts_wanted, starts_granted, starts_done;
    std::atomic<uint32_t> never_stops;  // 1 once work was seen that does not end by itself: calling such a run back is vain
};
static_assert(sizeof(GatePage) == 40, "the node reads these 40 bytes");

class Gate {
public:
    // Without a file, or with one that cannot be mapped, every call passes.
    explicit Gate(const char* path) {
        const int file = path && *path ? ::open(path, O_RDWR | O_CLOEXEC) : -1;
        if (file < 0) return;
        void* page = ::mmap(nullptr, sizeof(GatePage), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        ::close(file);
        if (page != MAP_FAILED) page_ = static_cast<GatePage*>(page);
    }

    bool in_use() const { return page_ != nullptr; }

    // Before this process makes its first context: the driver does that for one process at a time, and makes all others
    // wait meanwhile for much else than that.
    void begin_start() {
        if (!page_ || starts_.exchange(true)) return;
        const uint32_t ticket = page_->starts_wanted.fetch_add(1) + 1;
        wait(page_->starts_granted, [&](uint32_t granted) { return static_cast<int32_t>(granted - ticket) >= 0; });
    }

    // After that, however often it is called.
    void end_start() {
        if (page_ && starts_.load() && !started_.exchange(true)) page_->starts_done.fetch_add(1);
    }

    // Before a call that uses the device; returns once the run has it. `settle` waits for work that nobody has waited for
    // and says whether it is done: the node may call a turn back in the midst of it.
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

    // Before a call that only waits for the device: it needs no turn, and keeps one that the run has.
    void attend() {
        if (page_) page_->in_progress.fetch_add(1);
    }

    // Whether work may run on the device that nobody has waited for.
    bool is_unsettled() const { return page_ && page_->unsettled.load(); }

    bool never_stops() const { return page_ && page_->never_stops.load(); }

    void note_never_stops() {
        if (page_) page_->never_stops.store(1);
    }

    // After a copy that waited for no turn and returned only once the work before it was done.
    void note_settled() {
        if (page_) page_->unsettled.store(0);
    }

    // After a call that may have waited for the device, or for some of the work on it.
    void depart() {
        if (!page_) return;
        page_->last_use_ns.store(now_ns());
        page_->in_progress.fetch_sub(1);
    }

    // After such a call. `settles`: it returned only once the work before it was done.
    void leave(bool settles) {
        if (!page_) return;
        page_->unsettled.store(settles ? 0 : 1);
        depart();
    }

    // For how long this process has waited here: any of its threads, those that wait together counted once.
    uint64_t waited_ns() const {
        const uint64_t before = waited_ns_.load();
        return waiters_.load() ? before + now_ns() - waiting_since_ns_.load() : before;
    }

private:
    // The node wakes who waits for a word that it writes; should it not, this looks itself now and then.
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
