// NVTX ranges of one process: which are open, for how long they were, and which were open when work was launched.
// Not locked: `Recorder` does that.
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
    const std::string* name;      // kept as long as the process lives
    std::uint64_t instances = 0;  // entered and left
    std::uint64_t unclosed = 0;   // entered and not left yet
    Nanoseconds wall_ns = 0;      // per thread (push and pop) or process (start and end), what nests counted once, waits left out
    std::uint64_t depth = 0;      // how many are open in the process
    Nanoseconds since = 0;        // when the first of these was entered
    std::vector<std::pair<Nanoseconds, Nanoseconds>> open;  // when any was, neighbours joined where there are too many
};

class Ranges {
public:
    using Domain = std::uint64_t;

    // Nameless ranges keep their place on the stack and count for nothing, as in ComputeEval. Both return NVTX's level.
    int push(ThreadId thread, Domain domain, const std::string* name, Moment at);
    int pop(ThreadId thread, Domain domain, Moment at);

    // Start and end, by any threads of the process. `start` returns an id that is never 0.
    std::uint64_t start(ThreadId thread, const std::string* name, Moment at);
    bool end(std::uint64_t id, Moment at);  // false for a range that is not open

    void launched(std::uint32_t correlation, ThreadId thread, Nanoseconds now);
    Launch launch_of(std::uint32_t correlation) const;

    bool any_open() const { return open_count_ > 0; }
    bool any_seen() const { return !accounts_.empty(); }
    std::uint64_t lost() const { return lost_; }

    // The accounts by name as of `now`: open ranges count up to the last time that one of their name was left.
    std::vector<RangeAccount> accounts(Nanoseconds now) const;

private:
    static constexpr std::size_t MOST_NAMES = 20'000;
    static constexpr std::size_t MOST_OPEN = 256;
    static constexpr std::size_t MOST_INTERVALS = 1024;
    static constexpr std::size_t CHUNK = 4096;
    static constexpr std::size_t CHUNKS = 256;

    using Entered = std::shared_ptr<Instance>;  // null for a nameless range
    struct Depth {
        std::uint64_t depth = 0;
        Nanoseconds since = 0, last = 0;  // of Moment::own
    };
    using Scope = std::unordered_map<NameId, Depth>;  // within which ranges of one name nest
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
    mutable std::shared_ptr<const OpenSet> snapshot_;  // of open_; null when it is to be made anew
    // By correlation id modulo the table: a launch is forgotten when another takes its place a million calls later.
    std::array<std::unique_ptr<std::array<Slot, CHUNK>>, CHUNKS> launches_;
};

}  // namespace podium
