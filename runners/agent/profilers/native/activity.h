// The recorder's input: activities of the device, and the ranges and launches that they belong to.
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

// The time at which a range is entered or left, and how long its process had waited at the gate until then.
struct Moment {
    Moment(Nanoseconds time_, Nanoseconds waited_ = 0) : time(time_), waited(std::min(waited_, time_)) {}

    Nanoseconds own() const { return time - waited; }  // a clock that stops while the process waits

    Nanoseconds time, waited;
};

enum class Work { kernel, copy, fill };

// Directions of the copies between host and device.
constexpr std::string_view UPLOAD = "HtoD", DOWNLOAD = "DtoH";

struct Activity {
    Work work;
    Nanoseconds start;
    Nanoseconds end;
    std::uint32_t correlation;  // correlation id of the launching call
    std::string_view name;      // a kernel's mangled name, or a copy's direction
    std::uint64_t bytes = 0;
};

// One instance of a range, from its entry to its exit.
struct Instance {
    Instance(NameId name_, ThreadId thread_, Nanoseconds start_) : name(name_), thread(thread_), start(start_) {}

    const NameId name;
    const ThreadId thread;  // the thread that entered it
    const Nanoseconds start;
    std::atomic<Nanoseconds> end{0};  // 0 while it is open
};

// All open instances of the process, in the order of their entry.
using OpenSet = std::vector<std::shared_ptr<const Instance>>;

// The call that launched an activity. `known` is false if the recorder did not see the call.
struct Launch {
    bool known = false;
    ThreadId thread = 0;
    Nanoseconds time = 0;
    std::shared_ptr<const OpenSet> open;
};

}  // namespace podium
