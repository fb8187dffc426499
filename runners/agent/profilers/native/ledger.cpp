#include "ledger.h"

#include <algorithm>

namespace podium {
namespace {

constexpr char OTHER_KERNELS[] = "(other kernels)";

// How one name's open instances relate to a launch.
struct Claim {
    bool own = false;      // opened by the launching thread
    Nanoseconds left = 0;  // exit time of the last of them; 0 while one is open
    bool settled = false;
};

void join(Claim& claim, const Instance& instance, bool own) {
    const Nanoseconds end = instance.end.load();
    if (!claim.settled || (own && !claim.own)) {
        claim = {own, end, true};
    } else if (own == claim.own) {
        claim.left = claim.left == 0 || end == 0 ? 0 : std::max(claim.left, end);
    }
}

NameId innermost(const Launch& launch) {
    if (!launch.open) return Ledger::NO_RANGE;
    for (auto instance = launch.open->rbegin(); instance != launch.open->rend(); ++instance)
        if ((*instance)->thread == launch.thread) return (*instance)->name;
    return Ledger::NO_RANGE;
}

bool no_range(const Launch& launch) { return !launch.open || launch.open->empty(); }

}  // namespace

void Ledger::ran(const Activity& activity, const Launch& launch) {
    if (activity.start == 0 || activity.end < activity.start) {
        ++incomplete;
        return;
    }
    add_total(activity, launch);
    add_to_timeline(activity, launch);
    if (no_range(launch)) return;
    std::map<NameId, Claim> claims;
    for (const auto& instance : *launch.open)
        join(claims[instance->name], *instance, instance->thread == launch.thread);
    for (const auto& [name, claim] : claims) add_to_range(name, activity, claim.own, claim.left);
}

void Ledger::add_total(const Activity& activity, const Launch& launch) {
    busy.add(activity.start, activity.end);
    if (activity.work == Work::fill) {
        fills.add(activity);
    } else if (activity.work == Work::copy) {
        const std::string direction(activity.name);
        copies[direction].add(activity);
        copies_by_range[{direction, innermost(launch)}].add(activity);
    } else {
        std::string name(activity.name);
        if (kernels.size() >= MOST_KERNELS && !kernels.count(name)) name = OTHER_KERNELS;
        kernels[name].add(activity);
        if (no_range(launch)) outside.add(activity);
        if (!launch.known) ++unattributed;
    }
}

void Ledger::add_to_range(NameId name, const Activity& activity, bool own, Nanoseconds left) {
    if (name >= ranges.size()) ranges.resize(name + 1);
    RangeWork& range = ranges[name];
    (activity.work == Work::kernel ? range.kernels
     : activity.work == Work::copy ? range.copies
                                   : range.fills)
        .add(activity);
    if (activity.work == Work::kernel && !own) ++range.foreign_launches;
    range.busy.add(activity.start, activity.end);
    if (left != 0) range.late.add(std::max(activity.start, left), activity.end);
}

void Ledger::add_to_timeline(const Activity& activity, const Launch& launch) {
    Slice& slice = timeline.at(launch.known ? launch.time : activity.start);
    const Nanoseconds ns = activity.end - activity.start;
    if (activity.work == Work::fill) {
        slice.fill_ns += ns;
    } else if (activity.work == Work::copy) {
        slice.copy_ns += ns, ++slice.copies, slice.copied_bytes += activity.bytes;
        if (no_range(launch) && activity.name == UPLOAD) slice.uploaded_bytes += activity.bytes;
        if (no_range(launch) && activity.name == DOWNLOAD) slice.downloaded_bytes += activity.bytes;
    } else {
        slice.kernel_ns += ns, ++slice.launches;
        if (no_range(launch)) slice.outside_ns += ns, ++slice.outside_launches;
    }
}

}  // namespace podium
