#include "recorder.h"

#include <sched.h>

#include <algorithm>

#include "text.h"

namespace podium {
namespace {

using Guard = std::lock_guard<SpinLock>;

// Writes one JSON object member by member.
class Object {
public:
    Object& number(const char* key, std::uint64_t value) { return raw(key, std::to_string(value)); }
    Object& text(const char* key, const std::string& value) { return raw(key, quoted(value)); }
    Object& truth(const char* key, bool value) { return raw(key, value ? "true" : "false"); }
    Object& raw(const char* key, const std::string& json) {
        body_ += body_.empty() ? "{" : ",";
        body_ += quoted(key) + ":" + json;
        return *this;
    }
    std::string str() const { return body_.empty() ? "{}" : body_ + "}"; }

private:
    std::string body_;
};

class List {
public:
    void add(const std::string& json) { body_ += (body_.empty() ? "[" : ",") + json; }
    std::string str() const { return body_.empty() ? "[]" : body_ + "]"; }

private:
    std::string body_;
};

std::string kernels_json(const Ledger& ledger) {
    List list;
    for (const auto& [mangled, tally] : ledger.kernels)
        list.add(Object().text("name", kernel_name(mangled)).number("launches", tally.count).number("ns", tally.ns).str());
    return list.str();
}

std::string copies_json(const Ledger& ledger, const std::vector<RangeAccount>& accounts) {
    List list;
    for (const auto& [direction, tally] : ledger.copies) {
        List parts;
        for (const auto& [key, part] : ledger.copies_by_range) {
            if (key.first != direction) continue;
            const std::string name = key.second == Ledger::NO_RANGE ? "" : *accounts[key.second].name;
            parts.add(Object().text("name", name).number("bytes", part.bytes).number("ns", part.ns).str());
        }
        list.add(Object()
                     .text("direction", direction)
                     .number("count", tally.count)
                     .number("bytes", tally.bytes)
                     .number("ns", tally.ns)
                     .raw("ranges", parts.str())
                     .str());
    }
    return list.str();
}

std::string intervals_json(const RangeAccount& account) {
    List list;
    for (const auto& [start, end] : account.open) list.add("[" + std::to_string(start) + "," + std::to_string(end) + "]");
    return list.str();
}

std::string range_json(const RangeAccount& account, const RangeWork& work) {
    return Object()
        .text("name", *account.name)
        .number("instances", account.instances)
        .number("unclosed", account.unclosed)
        .number("wall_ns", account.wall_ns)
        .number("launches", work.kernels.count)
        .number("kernel_ns", work.kernels.ns)
        .number("copies", work.copies.count)
        .number("copy_ns", work.copies.ns)
        .number("copied_bytes", work.copies.bytes)
        .number("fill_ns", work.fills.ns)
        .number("busy_ns", work.busy.total())
        .number("late_ns", std::min(work.late.total(), work.busy.total()))
        .number("foreign_launches", work.foreign_launches)
        .raw("open", intervals_json(account))
        .str();
}

std::string timeline_json(const Timeline& timeline) {
    List slices;
    for (std::size_t i = 0; i < timeline.slices().size(); ++i) {
        const Slice& slice = timeline.slices()[i];
        if (slice.launches + slice.copies + slice.fill_ns == 0) continue;
        List numbers;
        for (const std::uint64_t number : {std::uint64_t{i}, slice.launches, slice.kernel_ns, slice.copies, slice.copy_ns,
                                           slice.copied_bytes, slice.fill_ns, slice.outside_launches, slice.outside_ns})
            numbers.add(std::to_string(number));
        slices.add(numbers.str());
    }
    return Object()
        .number("origin_ns", timeline.origin())
        .number("width_ns", timeline.width())
        .raw("slices", slices.str())
        .str();
}

}  // namespace

void SpinLock::lock() {
    for (int turns = 0; taken_.test_and_set(std::memory_order_acquire); ++turns)
        if (turns > 64) sched_yield();
}

int Recorder::push(ThreadId thread, Ranges::Domain domain, const std::string* name, Moment at) {
    ++changes_;
    const Guard guard(host_lock_);
    return ranges_.push(thread, domain, name, at);
}

int Recorder::pop(ThreadId thread, Ranges::Domain domain, Moment at) {
    ++changes_;
    const Guard guard(host_lock_);
    return ranges_.pop(thread, domain, at);
}

std::uint64_t Recorder::start(ThreadId thread, const std::string* name, Moment at) {
    ++changes_;
    const Guard guard(host_lock_);
    return ranges_.start(thread, name, at);
}

bool Recorder::end(std::uint64_t id, Moment at) {
    ++changes_;
    const Guard guard(host_lock_);
    return ranges_.end(id, at);
}

void Recorder::launched(std::uint32_t correlation, ThreadId thread, Nanoseconds now) {
    ++changes_;
    const Guard guard(host_lock_);
    ranges_.launched(correlation, thread, now);
}

void Recorder::ran(const Activity& activity) {
    ++changes_;
    Launch launch;
    {
        const Guard guard(host_lock_);
        launch = ranges_.launch_of(activity.correlation);
    }
    const std::lock_guard<std::mutex> guard(device_lock_);
    ledger_.ran(activity, launch);
}

bool Recorder::any_open() {
    const Guard guard(host_lock_);
    return ranges_.any_open();
}

bool Recorder::worth_telling() {
    const Guard guard(host_lock_);
    return contexts_ > 0 || ranges_.any_seen();
}

std::string Recorder::json(long pid, Nanoseconds (*clock)(), bool is_final) {
    const std::lock_guard<std::mutex> device_guard(device_lock_);
    std::vector<RangeAccount> accounts;
    std::uint64_t lost = 0;
    Nanoseconds now = 0;
    {
        const Guard guard(host_lock_);
        now = clock();
        accounts = ranges_.accounts(now);
        lost = ranges_.lost();
    }
    ledger_.ranges.resize(std::max(ledger_.ranges.size(), accounts.size()));
    List ranges;
    for (NameId id = 0; id < accounts.size(); ++id)
        ranges.add(range_json(accounts[id], ledger_.ranges[id]));
    return Object()
               .number("schema", 1)
               .number("pid", static_cast<std::uint64_t>(pid))
               .number("begun_ns", begun_)
               .number("ended_ns", now)
               .truth("final", is_final)
               .number("contexts", contexts_)
               .number("kernel_calls", kernel_calls_)
               .number("dropped", dropped_ + lost)
               .number("incomplete", ledger_.incomplete)
               .number("unattributed", ledger_.unattributed)
               .raw("kernels", kernels_json(ledger_))
               .raw("copies", copies_json(ledger_, accounts))
               .number("fill_ns", ledger_.fills.ns)
               .number("busy_ns", ledger_.busy.total())
               .number("outside_launches", ledger_.outside.count)
               .number("outside_ns", ledger_.outside.ns)
               .raw("ranges", ranges.str())
               .raw("timeline", timeline_json(ledger_.timeline))
               .str() +
           "\n";
}

}  // namespace podium
