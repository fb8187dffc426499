// Sums of one process's device activity, in total and by range. `Recorder` does the locking.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "activity.h"
#include "coverage.h"
#include "timeline.h"

namespace podium {

struct Tally {
    std::uint64_t count = 0, bytes = 0;
    Nanoseconds ns = 0;

    void add(const Activity& activity) {
        ++count;
        bytes += activity.bytes;
        ns += activity.end - activity.start;
    }
};

// The work launched while ranges of one name were open.
struct RangeWork {
    Tally kernels, copies, fills;
    std::uint64_t foreign_launches = 0;  // kernels launched by another thread
    Coverage busy;
    Coverage late;  // the part of `busy` after the range was left
};

class Ledger {
public:
    explicit Ledger(Nanoseconds origin) : timeline(origin) {}

    void ran(const Activity& activity, const Launch& launch);

    std::unordered_map<std::string, Tally> kernels;  // by mangled name
    std::map<std::string, Tally> copies;             // by direction
    // By direction and the innermost range that the launching thread had open; NO_RANGE if it had none.
    std::map<std::pair<std::string, NameId>, Tally> copies_by_range;
    Tally fills;
    Tally outside;  // kernels launched while no range was open
    Coverage busy;
    Timeline timeline;
    std::vector<RangeWork> ranges;   // by NameId
    std::uint64_t incomplete = 0;    // records without times: see ProcessNote in profilers/cupti_notes.py
    std::uint64_t unattributed = 0;  // kernels whose launch the recorder did not see

    static constexpr NameId NO_RANGE = ~NameId{0};

private:
    static constexpr std::size_t MOST_KERNELS = 20'000;

    void add_total(const Activity& activity, const Launch& launch);
    void add_to_range(NameId name, const Activity& activity, bool own, Nanoseconds left);
    void add_to_timeline(const Activity& activity, const Launch& launch);
};

}  // namespace podium
