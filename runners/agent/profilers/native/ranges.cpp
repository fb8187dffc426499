#include "ranges.h"

#include <algorithm>
#include <cstdint>

namespace podium {

int Ranges::push(ThreadId thread, Domain domain, const std::string* name, Moment at) {
    if (threads_.size() > MOST_OPEN) forget_idle_threads();
    Thread& its = threads_[thread];
    auto& stack = its.stacks[domain];
    stack.push_back(enter(its.scope, thread, name, at));
    return static_cast<int>(stack.size()) - 1;
}

int Ranges::pop(ThreadId thread, Domain domain, Moment at) {
    Thread& its = threads_[thread];
    auto& stack = its.stacks[domain];
    if (stack.empty()) return -1;
    leave(its.scope, stack.back(), at);
    stack.pop_back();
    return static_cast<int>(stack.size());
}

std::uint64_t Ranges::start(ThreadId thread, const std::string* name, Moment at) {
    const std::uint64_t id = next_id_++;
    if (Entered instance = enter(process_, thread, name, at)) started_.emplace(id, std::move(instance));
    return id;
}

bool Ranges::end(std::uint64_t id, Moment at) {
    const auto found = started_.find(id);
    if (found == started_.end()) return false;
    leave(process_, found->second, at);
    started_.erase(found);
    return true;
}

Ranges::Entered Ranges::enter(Scope& scope, ThreadId thread, const std::string* name, Moment at) {
    NameId id = 0;
    if (!name || !intern(*name, id)) return nullptr;
    const Nanoseconds now = at.time;
    RangeAccount& account = accounts_[id];
    ++account.unclosed;
    ++open_count_;
    // Threads read the clock before they take the lock, so a later call may have an earlier time.
    if (account.depth++ == 0) account.since = account.open.empty() ? now : std::max(now, account.open.back().second);
    Depth& nesting = scope[id];
    if (nesting.depth++ == 0) nesting.since = nesting.last = at.own();
    auto instance = std::make_shared<Instance>(id, thread, now);
    if (open_.size() < MOST_OPEN) {
        open_.push_back(instance);
        snapshot_.reset();
    } else {
        ++lost_;
    }
    return instance;
}

void Ranges::leave(Scope& scope, const Entered& instance, Moment at) {
    if (!instance) return;
    const Nanoseconds now = at.time;
    instance->end.store(std::max<Nanoseconds>(now, 1));
    RangeAccount& account = accounts_[instance->name];
    ++account.instances;
    --account.unclosed;
    --open_count_;
    if (--account.depth == 0) close_interval(account, now);
    Depth& nesting = scope[instance->name];
    nesting.last = std::max(nesting.last, at.own());
    if (--nesting.depth == 0) {
        account.wall_ns += std::max(at.own(), nesting.since) - nesting.since;
        scope.erase(instance->name);
    }
    const auto place = std::find(open_.rbegin(), open_.rend(), instance);
    if (place == open_.rend()) return;
    open_.erase(std::next(place).base());
    snapshot_.reset();
}

bool Ranges::intern(const std::string& name, NameId& id) {
    const auto found = ids_.find(name);
    if (found != ids_.end()) {
        id = found->second;
        return true;
    }
    if (accounts_.size() >= MOST_NAMES) {
        ++lost_;
        return false;
    }
    id = static_cast<NameId>(accounts_.size());
    accounts_.emplace_back().name = &ids_.emplace(name, id).first->first;
    return true;
}

void Ranges::close_interval(RangeAccount& account, Nanoseconds now) const {
    auto& open = account.open;
    if (open.size() >= MOST_INTERVALS) {
        for (std::size_t i = 0; i < open.size() / 2; ++i) open[i] = {open[2 * i].first, open[2 * i + 1].second};
        open.resize(open.size() / 2);
    }
    open.emplace_back(account.since, std::max(account.since, now));
}

void Ranges::forget_idle_threads() {
    for (auto thread = threads_.begin(); thread != threads_.end();) {
        const auto& stacks = thread->second.stacks;
        const bool idle =
            std::all_of(stacks.begin(), stacks.end(), [](const auto& held) { return held.second.empty(); });
        thread = idle ? threads_.erase(thread) : std::next(thread);
    }
}

void Ranges::launched(std::uint32_t correlation, ThreadId thread, Nanoseconds now) {
    auto& chunk = launches_[correlation / CHUNK % CHUNKS];
    if (!chunk) chunk = std::make_unique<std::array<Slot, CHUNK>>();
    Slot& slot = (*chunk)[correlation % CHUNK];
    if (slot.launch.known && slot.correlation == correlation) return;  // the driver's call inside the runtime's
    if (!snapshot_) snapshot_ = std::make_shared<const OpenSet>(open_.begin(), open_.end());
    slot.correlation = correlation;
    slot.launch = {true, thread, now, snapshot_};
}

Launch Ranges::launch_of(std::uint32_t correlation) const {
    const auto& chunk = launches_[correlation / CHUNK % CHUNKS];
    if (!chunk) return {};
    const Slot& slot = (*chunk)[correlation % CHUNK];
    return slot.launch.known && slot.correlation == correlation ? slot.launch : Launch{};
}

std::vector<RangeAccount> Ranges::accounts(Nanoseconds now) const {
    std::vector<RangeAccount> copies = accounts_;
    for (RangeAccount& copy : copies)
        if (copy.depth > 0) close_interval(copy, now);
    const auto add_open = [&](const Scope& scope) {
        for (const auto& [name, nesting] : scope) copies[name].wall_ns += nesting.last - nesting.since;
    };
    add_open(process_);
    for (const auto& [thread, its] : threads_) add_open(its.scope);
    return copies;
}

}  // namespace podium
