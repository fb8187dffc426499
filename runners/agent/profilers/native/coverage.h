// The total time that a set of intervals covers, in bounded memory.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "activity.h"

namespace podium {

// The total is exact if each interval arrives at most KEPT gaps late. A later interval counts only from the end of the
// folded intervals, so the total may be too small, but never too large.
class Coverage {
public:
    void add(Nanoseconds start, Nanoseconds end) {
        start = std::max(start, folded_until_);
        if (end <= start) return;
        auto first = std::lower_bound(recent_.begin(), recent_.end(), start,
                                      [](const Interval& held, Nanoseconds at) { return held.end < at; });
        auto last = first;
        for (; last != recent_.end() && last->start <= end; ++last) {
            start = std::min(start, last->start);
            end = std::max(end, last->end);
        }
        if (first == last) {
            recent_.insert(first, {start, end});
        } else {
            *first = {start, end};
            recent_.erase(first + 1, last);
        }
        if (recent_.size() >= 2 * KEPT) fold();
    }

    Nanoseconds total() const {
        Nanoseconds sum = folded_;
        for (const Interval& held : recent_) sum += held.end - held.start;
        return sum;
    }

private:
    static constexpr std::size_t KEPT = 1024;
    struct Interval {
        Nanoseconds start, end;
    };

    void fold() {
        for (std::size_t i = 0; i < KEPT; ++i) folded_ += recent_[i].end - recent_[i].start;
        folded_until_ = recent_[KEPT - 1].end;
        recent_.erase(recent_.begin(), recent_.begin() + KEPT);
    }

    std::vector<Interval> recent_;  // sorted and disjoint
    Nanoseconds folded_ = 0;
    Nanoseconds folded_until_ = 0;
};

}  // namespace podium
