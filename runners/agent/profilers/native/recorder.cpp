#include "recorder.h"

#include <sched.h>

#include <algorithm>
#include <cstdint>

#include "ledger.h"
#include "lock.h"
#include "ranges.h"
#include "text.h"

namespace podium {
namespace {

// Threads hold it for tens of nanoseconds while they launch, so spinning is faster than sleeping.
class SpinLock {
public:
    void lock() {
        for (int turns = 0; taken_.test_and_set(std::memory_order_acquire); ++turns)
            if (turns > 64) sched_yield();
    }
    void unlock() { taken_.clear(std::memory_order_release); }

private:
    std::atomic_flag taken_ = ATOMIC_FLAG_INIT;
};

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
        list.add(
            Object().text("name", kernel_name(mangled)).number("launches", tally.count).number("ns", tally.ns).str());
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
    for (const auto& [start, end] : account.open)
        list.add("[" + std::to_string(start) + "," + std::to_string(end) + "]");
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
        .number("filled_bytes", work.fills.bytes)
        .number("busy_ns", work.busy.total())
        .number("late_ns", std::min(work.late.total(), work.busy.total()))
        .number("foreign_launches", work.foreign_launches)
        .raw("open", intervals_json(account))
        .str();
}

std::string timeline_json(const Timeline& timeline) {
    List slices, outside_copies;
    for (std::size_t i = 0; i < timeline.slices().size(); ++i) {
        const Slice& slice = timeline.slices()[i];
        if (slice.launches + slice.copies + slice.fill_ns == 0) continue;
        List numbers;
        for (const std::uint64_t number :
             {std::uint64_t{i}, slice.launches, slice.kernel_ns, slice.copies, slice.copy_ns, slice.copied_bytes,
              slice.fill_ns, slice.outside_launches, slice.outside_ns})
            numbers.add(std::to_string(number));
        slices.add(numbers.str());
        if (slice.uploaded_bytes + slice.downloaded_bytes == 0) continue;
        outside_copies.add("[" + std::to_string(i) + "," + std::to_string(slice.uploaded_bytes) + "," +
                           std::to_string(slice.downloaded_bytes) + "]");
    }
    return Object()
        .number("origin_ns", timeline.origin())
        .number("width_ns", timeline.width())
        .raw("slices", slices.str())
        .raw("outside_copies", outside_copies.str())
        .str();
}

}  // namespace

struct Recorder::Held {
    explicit Held(Nanoseconds begun) : ledger(begun) {}

    SpinLock host_lock;
    Ranges ranges;
    Mutex device_lock;
    Ledger ledger;
};

Recorder::Recorder(Nanoseconds begun) : begun_(begun), held_(new Held(begun)) {}
Recorder::~Recorder() { delete held_; }

int Recorder::push(ThreadId thread, Domain domain, const std::string* name, Moment at) {
    ++changes_;
    const Guard guard(held_->host_lock);
    return held_->ranges.push(thread, domain, name, at);
}

int Recorder::pop(ThreadId thread, Domain domain, Moment at) {
    ++changes_;
    const Guard guard(held_->host_lock);
    return held_->ranges.pop(thread, domain, at);
}

std::uint64_t Recorder::start(ThreadId thread, const std::string* name, Moment at) {
    ++changes_;
    const Guard guard(held_->host_lock);
    return held_->ranges.start(thread, name, at);
}

bool Recorder::end(std::uint64_t id, Moment at) {
    ++changes_;
    const Guard guard(held_->host_lock);
    return held_->ranges.end(id, at);
}

void Recorder::launched(std::uint32_t correlation, ThreadId thread, Nanoseconds now) {
    ++changes_;
    const Guard guard(held_->host_lock);
    held_->ranges.launched(correlation, thread, now);
}

void Recorder::ran(const Activity& activity) {
    ++changes_;
    Launch launch;
    {
        const Guard guard(held_->host_lock);
        launch = held_->ranges.launch_of(activity.correlation);
    }
    const Guard guard(held_->device_lock);
    held_->ledger.ran(activity, launch);
}

bool Recorder::any_open() {
    const Guard guard(held_->host_lock);
    return held_->ranges.any_open();
}

bool Recorder::worth_telling() {
    const Guard guard(held_->host_lock);
    return contexts_ > 0 || held_->ranges.any_seen();
}

std::string Recorder::json(long pid, Nanoseconds (*clock)(), bool is_final) {
    const Guard device_guard(held_->device_lock);
    std::vector<RangeAccount> accounts;
    std::uint64_t lost = 0;
    Nanoseconds now = 0;
    {
        const Guard guard(held_->host_lock);
        now = clock();
        accounts = held_->ranges.accounts(now);
        lost = held_->ranges.lost();
    }
    held_->ledger.ranges.resize(std::max(held_->ledger.ranges.size(), accounts.size()));
    List ranges;
    for (NameId id = 0; id < accounts.size(); ++id) ranges.add(range_json(accounts[id], held_->ledger.ranges[id]));
    return Object()
               .number("schema", 1)
               .number("pid", static_cast<std::uint64_t>(pid))
               .number("begun_ns", begun_)
               .number("ended_ns", now)
               .truth("final", is_final)
               .number("contexts", contexts_)
               .number("kernel_calls", kernel_calls_)
               .number("graph_launches", graph_launches_)
               .number("dropped", dropped_ + lost)
               .number("incomplete", held_->ledger.incomplete)
               .number("unattributed", held_->ledger.unattributed)
               .raw("kernels", kernels_json(held_->ledger))
               .raw("copies", copies_json(held_->ledger, accounts))
               .number("fill_ns", held_->ledger.fills.ns)
               .number("filled_bytes", held_->ledger.fills.bytes)
               .number("busy_ns", held_->ledger.busy.total())
               .number("outside_launches", held_->ledger.outside.count)
               .number("outside_ns", held_->ledger.outside.ns)
               .raw("ranges", ranges.str())
               .raw("timeline", timeline_json(held_->ledger.timeline))
               .str() +
           "\n";
}

}  // namespace podium
