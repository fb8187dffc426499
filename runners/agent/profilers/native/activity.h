// What the recorder is told of: work that the device did, and the ranges and launches that it belongs to.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace podium {

using Nanoseconds = std::uint64_t;  // of CLOCK_MONOTONIC, which all processes of a machine share
using ThreadId = std::uint64_t;
using NameId = std::uint32_t;

// When a range is entered or left, and for how long its process had waited at the gate by then.
struct Moment {
    Moment(Nanoseconds time_, Nanoseconds waited_ = 0) : time(time_), waited(std::min(waited_, time_)) {}

    Nanoseconds own() const { return time - waited; }  // runs only while the process does not wait

    Nanoseconds time, waited;
};

enum class Work { kernel, copy, fill };

struct Activity {
    Work work;
    Nanoseconds start;
    Nanoseconds end;
    std::uint32_t correlation;  // that of the call which launched it
    std::string_view name;      // a kernel's name as the compiler made it; a copy's direction
    std::uint64_t bytes = 0;
};

// One time that a range was entered.
struct Instance {
    Instance(NameId name_, ThreadId thread_, Nanoseconds start_) : name(name_), thread(thread_), start(start_) {}

    const NameId name;
    const ThreadId thread;  // the one that entered it
    const Nanoseconds start;
    std::atomic<Nanoseconds> end{0};  // 0 while it is open
};

// The instances that are open in the whole process, in the order in which they were entered.
using OpenSet = std::vector<std::shared_ptr<const Instance>>;

struct Launch {
    bool known = false;
    ThreadId thread = 0;
    Nanoseconds time = 0;
    std::shared_ptr<const OpenSet> open;
};

}  // namespace podium
