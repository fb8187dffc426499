// One process's recording: ranges and launches from its threads, records from the device, and their sum as JSON.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "activity.h"

namespace podium {

class Recorder {
public:
    using Domain = std::uint64_t;

    explicit Recorder(Nanoseconds begun);
    ~Recorder();
    Recorder(const Recorder&) = delete;
    Recorder& operator=(const Recorder&) = delete;

    // Events on the host, from any thread. `name` is clean (see text.h), or null if the range has no name.
    int push(ThreadId thread, Domain domain, const std::string* name, Moment at);
    int pop(ThreadId thread, Domain domain, Moment at);
    std::uint64_t start(ThreadId thread, const std::string* name, Moment at);
    bool end(std::uint64_t id, Moment at);  // false if the range is not open
    void launched(std::uint32_t correlation, ThreadId thread, Nanoseconds now);

    // Events on the device.
    void ran(const Activity& activity);
    void dropped(std::uint64_t records) { dropped_ += records; }
    void context_created() { ++contexts_; }
    // Called for each successful call that launches one kernel.
    void kernel_called() { ++kernel_calls_; }
    void graph_launched() { ++graph_launches_; }

    bool any_open();
    bool worth_telling();
    // Number of recorded events.
    std::uint64_t changes() const { return changes_; }

    // The recording so far, for profilers/cupti_notes.py. `is_final`: nothing more will be recorded.
    std::string json(long pid, Nanoseconds (*clock)(), bool is_final);

private:
    const Nanoseconds begun_;
    struct Held;
    Held* const held_;  // a pointer, so that this header needs no headers of containers
    std::atomic<std::uint64_t> dropped_{0}, contexts_{0}, kernel_calls_{0}, graph_launches_{0}, changes_{0};
};

}  // namespace podium
