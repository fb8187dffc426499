// NVTX ranges of one process: the open ranges, their wall times, and the ranges that were open at each launch.
// `Recorder` does the locking.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "activity.h"

namespace podium {

// All instances of the ranges of one name.
struct RangeAccount {
    const std::string* name;      // valid until the process ends
    std::uint64_t instances = 0;  // entered and left
    std::uint64_t unclosed = 0;   // entered and not left yet
    // Sum over threads (push and pop) and the process (start and end). Nested instances count once, waits do not count.
    Nanoseconds wall_ns = 0;
    std::uint64_t depth = 0;  // number of open instances in the process
    Nanoseconds since = 0;    // entry time of the first of these
    // The intervals in which an instance was open. If there are too many, neighbours are joined.
    std::vector<std::pair<Nanoseconds, Nanoseconds>> open;
};

class Ranges {
public:
    using Domain = std::uint64_t;

    // A range without a name has a place on the stack and is not counted, as in ComputeEval. Both return NVTX's level.
    int push(ThreadId thread, Domain domain, const std::string* name, Moment at);
    int pop(ThreadId thread, Domain domain, Moment at);

    // A range may start and end on different threads. `start` returns an id that is never 0.
    std::uint64_t start(ThreadId thread, const std::string* name, Moment at);
    bool end(std::uint64_t id, Moment at);  // false if the range is not open

    void launched(std::uint32_t correlation, ThreadId thread, Nanoseconds now);
    Launch launch_of(std::uint32_t correlation) const;

    bool any_open() const { return open_count_ > 0; }
    bool any_seen() const { return !accounts_.empty(); }
    std::uint64_t lost() const { return lost_; }

    // The accounts by NameId at `now`. The wall time of an open range ends at the last exit of an instance of its name.
    std::vector<RangeAccount> accounts(Nanoseconds now) const;

private:
    static constexpr std::size_t MOST_NAMES = 20'000;
    static constexpr std::size_t MOST_OPEN = 256;
    static constexpr std::size_t MOST_INTERVALS = 1024;
    static constexpr std::size_t CHUNK = 4096;
    static constexpr std::size_t CHUNKS = 256;

    using Entered = std::shared_ptr<Instance>;  // null for a range that is not counted
    struct Depth {
        std::uint64_t depth = 0;
        Nanoseconds since = 0, last = 0;  // by Moment::own
    };
    using Scope = std::unordered_map<NameId, Depth>;  // a thread's or the process's nesting depth by name
    struct Thread {
        std::map<Domain, std::vector<Entered>> stacks;
        Scope scope;
    };
    struct Slot {
        std::uint32_t correlation = 0;
        Launch launch;
    };

    Entered enter(Scope& scope, ThreadId thread, const std::string* name, Moment at);
    void leave(Scope& scope, const Entered& instance, Moment at);
    bool intern(const std::string& name, NameId& id);
    void close_interval(RangeAccount& account, Nanoseconds now) const;
    void forget_idle_threads();

    std::unordered_map<std::string, NameId> ids_;
    std::vector<RangeAccount> accounts_;
    std::unordered_map<ThreadId, Thread> threads_;
    Scope process_;
    std::unordered_map<std::uint64_t, Entered> started_;
    std::uint64_t next_id_ = 1;
    std::vector<Entered> open_;
    std::size_t open_count_ = 0;
    std::uint64_t lost_ = 0;
    mutable std::shared_ptr<const OpenSet> snapshot_;  // copy of open_; null if it is out of date
    // By correlation id modulo the table's size. A launch about a million calls later takes the same place.
    std::array<std::unique_ptr<std::array<Slot, CHUNK>>, CHUNKS> launches_;
};

}  // namespace podium
