// Makes a benchmark wait, before its first work on the device and after every pause, until the node gives it the device.
//
// The page is a file that the node shares with all processes of one run; runners/agent/gpu/gate.py is its other side and
// has the same layout. The gate keeps others' times quiet; it guards no secret, and a program that ignores it gains
// nothing for itself.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>

namespace podium {

struct GatePage {
    std::atomic<uint32_t> open;         // written by the node: 1 while the run has the device
    std::atomic<uint32_t> waiting;      // threads that wait now
    std::atomic<uint32_t> in_progress;  // calls that use the device now, waits for it included
    std::atomic<uint32_t> open_ranges;  // NVTX ranges entered and not yet left
    std::atomic<uint64_t> last_use_ns;  // CLOCK_MONOTONIC
};
static_assert(sizeof(GatePage) == 24, "the node reads these 24 bytes");

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

    // Before a call that uses the device; returns once the run has it.
    void enter() {
        if (!page_) return;
        page_->in_progress.fetch_add(1);
        if (!page_->open.load()) wait();
        page_->last_use_ns.store(now_ns());
    }

    // After that call.
    void leave() {
        if (!page_) return;
        page_->last_use_ns.store(now_ns());
        page_->in_progress.fetch_sub(1);
    }

    // Before a range begins: what waits here is no part of its time.
    void enter_range() {
        if (!page_) return;
        enter();
        page_->open_ranges.fetch_add(1);
        leave();
    }

    void leave_range() {
        if (!page_) return;
        page_->last_use_ns.store(now_ns());
        page_->open_ranges.fetch_sub(1);
    }

private:
    void wait() {
        page_->waiting.fetch_add(1);
        const timespec pause{0, 200'000};
        while (!page_->open.load()) ::nanosleep(&pause, nullptr);
        page_->waiting.fetch_sub(1);
    }

    static uint64_t now_ns() {
        timespec now{};
        ::clock_gettime(CLOCK_MONOTONIC, &now);
        return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<uint64_t>(now.tv_nsec);
    }

    GatePage* page_ = nullptr;
};

}  // namespace podium
