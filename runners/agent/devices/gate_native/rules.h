// Decides which run at one device has a turn, and which runs may start CUDA. porter.cpp applies these rules in real time.
//
// The porter reads and writes pages as files, so that a program that truncates its page cannot end the porter. It maps
// pages only to wake waiting threads. A program may write anything to its page. That disturbs other runs, and they wait
// no longer than the program's time limit.
#pragma once

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <map>
#include <sstream>
#include <string>

namespace podium {

// A look reads the page of each run that keeps others waiting. One look in SELDOM reads the other pages, too.
constexpr std::uint64_t LOOK_NS = 100'000;  // between two looks
constexpr unsigned SELDOM = 4;

// When a turn ends while others wait.
constexpr std::uint64_t IDLE_NS = 200'000;       // a run that has not used the device for this long loses its turn
constexpr std::uint64_t UNSETTLED_NS = 500'000;  // the same, if its earlier work may still be on the device
constexpr std::uint64_t GAP_NS = 5'000'000;  // a benchmark keeps its turn in a gap between two uses up to this length,
constexpr std::uint64_t GAPS_NS = 40'000'000;  // and this total: after another run's turn, cold caches lengthen kernels
constexpr std::uint64_t TURN_NS = 5'000'000;   // assumed length of a run's first turn
constexpr std::uint64_t SLICE_NS = 20'000'000;    // a turn of this length may be recalled
constexpr std::uint64_t BRIEF_NS = SLICE_NS / 2;  // maximum length of a brief turn
constexpr std::uint64_t STOP_NS = 50'000'000;  // a recalled run that does not stop gets its turn back after this time

// Starts of CUDA, and quiet: no start beside a benchmark's first turns.
constexpr std::size_t STARTS = 2;                   // at a time; more are not faster and delay all runs' driver calls
constexpr std::uint64_t START_NS = 500'000'000;     // a start that makes no context delays others for at most this long
constexpr std::uint64_t PHASE_NS = 150'000'000;     // how long one kind of run has priority over the other
constexpr std::uint64_t QUIET_NS = 100'000'000;     // total length of a benchmark's turns that need quiet
constexpr std::uint64_t LACKED_NS = 1'000'000'000;  // a benchmark that has waited for quiet for this long goes without

struct Page {  // the layout of GatePage
    std::uint32_t open, waiting, in_progress, unsettled;
    std::uint64_t last_use_ns;
    std::uint32_t starts_wanted, starts_granted, starts_done, never_stops;
};
static_assert(sizeof(Page) == 40);

using Clock = std::uint64_t (*)();  // monotonic, in nanoseconds

inline void tell(const char* event, const std::string& id, std::uint64_t at_ns) {
    char line[128];
    const int length =
        std::snprintf(line, sizeof line, "%s %.40s %llu\n", event, id.c_str(), (unsigned long long)at_ns);
    for (int told = 0; told < length;) {
        const ssize_t written = ::write(STDOUT_FILENO, line + told, static_cast<std::size_t>(length - told));
        if (written <= 0) _exit(1);  // the node has closed its end
        told += static_cast<int>(written);
    }
}

class Run {
public:
    Run(int file, const std::string& how) : alone(how != "shared"), file_(file) {
        // Only for FUTEX_WAKE. If the file is truncated, a read or write of mapped memory ends the porter.
        void* mapped = ::mmap(nullptr, sizeof(Page), PROT_READ, MAP_SHARED, file, 0);
        if (mapped != MAP_FAILED) mapped_ = static_cast<const char*>(mapped);
    }

    bool read(Page& page) const { return ::pread(file_, &page, sizeof page, 0) == sizeof page; }
    void write_open(std::uint32_t open) const { write(open, offsetof(Page, open)); }
    void write_granted(std::uint32_t granted) const { write(granted, offsetof(Page, starts_granted)); }
    void close() const {
        if (mapped_) ::munmap(const_cast<char*>(mapped_), sizeof(Page));
        ::close(file_);
    }

    const bool alone;
    bool waits = false, inside = false;
    bool recalled = false;     // inside, and asked to stop before its work is done
    bool unstoppable = false;  // a recall failed: a part of the run waits for work of the rest
    std::uint64_t recalled_ns = 0;
    std::uint64_t held_ns = 0, asked_ns = 0, opened_ns = 0;
    std::uint64_t turn_ns = TURN_NS;  // exponential average of the lengths of its turns; the latest has weight 1/4
    std::uint64_t last_use_ns = 0;    // from its page, at the last look
    std::uint64_t gap_ns = 0;         // exponential average of the gaps between its uses; the latest has weight 1/2
    std::uint64_t gaps_ns = 0;        // total time for which its gaps kept others waiting
    std::uint64_t lacked_ns = 0;      // total time for which it waited without quiet
    std::uint32_t granted = 0, wanted = 0, done = 0;  // numbers of starts
    std::uint64_t start_asked_ns = 0, start_granted_ns = 0;

    // Whether nothing should start beside this run. A start takes about 0.5 ms of the device from one kernel, which is a
    // large part of a short time and a small part of a long one.
    bool wants_quiet(std::uint64_t now) const {
        return alone && lacked_ns < LACKED_NS && held_ns + (inside ? now - opened_ns : 0) < QUIET_NS;
    }
    // `at_ns`: the time at which the run used the device again, or asked for it.
    void note_use(std::uint64_t at_ns) {
        if (last_use_ns != 0 && at_ns > last_use_ns + IDLE_NS) gap_ns = (gap_ns + (at_ns - last_use_ns)) / 2;
    }
    bool wants_start() const { return wanted != granted; }
    bool is_starting(std::uint64_t now) const { return granted != done && now - start_granted_ns < START_NS; }

private:
    void write(std::uint32_t word, std::size_t offset) const {
        (void)!::pwrite(file_, &word, sizeof word, static_cast<off_t>(offset));
        if (mapped_) ::syscall(SYS_futex, mapped_ + offset, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
    }

    int file_;
    const char* mapped_ = nullptr;
};

// How long the run has not used the device, in nanoseconds.
inline std::uint64_t unused_ns(const Page& page, std::uint64_t now) {
    if (page.waiting || page.in_progress || now <= page.last_use_ns) return 0;
    return now - page.last_use_ns;
}

// Whether the run has left the device. A call that has returned may have left work there, so an unsettled run must have
// been unused for longer.
inline bool is_idle(const Page& page, std::uint64_t now) {
    return unused_ns(page, now) > (page.unsettled ? UNSETTLED_NS : IDLE_NS);
}

// Whether a recalled run has stopped: all its calls wait at the gate, and its earlier work is done.
inline bool has_stopped(const Page& page, std::uint64_t now) {
    const bool may_run_on = page.unsettled && now < page.last_use_ns + UNSETTLED_NS;
    return page.waiting && page.in_progress == page.waiting && !may_run_on;
}

// Gives priority in phases to benchmarks or to others, while both want something that excludes the other.
class Shares {
public:
    // `blocked`: the kind with priority still waits for the other kind to leave. Its phase begins after that.
    void look(bool benchmarks_want, bool others_want, bool blocked, std::uint64_t now) {
        if (blocked) since_ns_ = now;
        const bool over = now - since_ns_ > PHASE_NS;
        const bool next = benchmarks_want && others_want ? benchmarks_ != over : benchmarks_want;
        if (next != benchmarks_) since_ns_ = now;
        benchmarks_ = next;
    }
    bool benchmarks() const { return benchmarks_; }

private:
    bool benchmarks_ = false;
    std::uint64_t since_ns_ = 0;
};

// Which kinds of run have the device, wait for it, or start.
struct Scene {
    bool alone_inside = false, quiet_inside = false, shared_inside = false, starting = false;
    bool alone_waits = false, quiet_waits = false, shared_waits = false, start_waits = false;
    bool brief_waits = false;  // a benchmark that waits has brief turns
};

class Porter {
public:
    explicit Porter(Clock clock) : clock_(clock) {}

    bool empty() const { return runs_.empty(); }

    void obey(const std::string& line) {
        std::istringstream words(line);
        std::string verb, id, path, how;
        words >> verb >> id >> path >> how;
        if (verb == "add") {
            const int file = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
            if (file < 0) return tell("gone", id, now_ns());
            runs_.emplace(id, Run(file, how));
        } else if (verb == "drop") {
            const auto found = runs_.find(id);
            if (found != runs_.end()) {
                if (found->second.inside) leave(id, found->second);
                found->second.close();
                runs_.erase(found);
            }
            tell("gone", id, now_ns());
        }
    }

    void look() {
        const std::uint64_t now = now_ns();
        const Scene scene = scene_at(now);
        const bool all = looks_++ % SELDOM == 0;
        for (auto& [id, run] : runs_) {
            const bool kept_waiting = run.inside && is_in_the_way(run, scene);
            Page page{};
            if (!(all || kept_waiting) || !run.read(page)) continue;
            look_at_starts(id, run, page);
            if (run.waits) continue;
            if (run.inside && page.last_use_ns > std::max(run.last_use_ns, run.opened_ns)) {
                run.note_use(page.last_use_ns);
                run.last_use_ns = page.last_use_ns;
            }
            if (run.recalled) {
                look_at_recalled(id, run, page);
            } else if (!run.inside && page.waiting) {
                run.waits = true;
                run.asked_ns = now_ns();
                run.note_use(run.asked_ns);
                tell("ask", id, run.asked_ns);
            } else if (kept_waiting && is_idle(page, now_ns()) && !is_gap(run, page, now)) {
                take_back(id, run);
            } else if (kept_waiting && !page.never_stops && is_to_stop(run, scene, now)) {
                run.recalled = true;
                run.recalled_ns = now_ns();
                run.last_use_ns = 0;  // the time until it stops does not count as a gap
                run.write_open(0);
            } else if (run.inside && !page.open) {
                run.write_open(1);
            }
        }
        let_in();
    }

private:
    std::uint64_t now_ns() const { return clock_(); }

    // Whether the run is a benchmark in a gap that is likely to end soon. Counts the time since the last look as a gap.
    bool is_gap(Run& run, const Page& page, std::uint64_t now) const {
        if (!run.alone || run.gap_ns > GAP_NS || run.gaps_ns >= GAPS_NS || unused_ns(page, now) > GAP_NS) return false;
        run.gaps_ns += now - looked_ns_;
        return true;
    }

    // Whether to recall a run: its turn has lasted SLICE_NS, and runs that wait have brief turns or have priority.
    bool is_to_stop(const Run& run, const Scene& scene, std::uint64_t now) const {
        if (run.unstoppable || now - run.opened_ns < SLICE_NS) return false;
        if (!run.alone) return turns_.benchmarks();
        return scene.brief_waits || (scene.shared_waits && !turns_.benchmarks());
    }

    // A run that does not stop gets its turn back. One of its threads may wait for a launch by a thread at the gate, or for
    // a process that died.
    void look_at_recalled(const std::string& id, Run& run, const Page& page) {
        const std::uint64_t now = now_ns();
        if (has_stopped(page, now) || is_idle(page, now)) return leave(id, run);
        if (!page.waiting || now - run.recalled_ns < STOP_NS) return;
        run.recalled = false;
        run.unstoppable = true;
        run.write_open(1);
    }

    // Closes the gate. If a call began just before, the run keeps its turn and the gate opens again.
    void take_back(const std::string& id, Run& run) {
        run.write_open(0);
        Page again{};
        if (!run.read(again) || is_idle(again, now_ns())) return leave(id, run);
        run.write_open(1);
    }

    void look_at_starts(const std::string& id, Run& run, const Page& page) {
        const bool wanted_one = run.wants_start();
        run.wanted = page.starts_wanted;
        run.done = page.starts_done;
        if (wanted_one || !run.wants_start()) return;
        run.start_asked_ns = now_ns();
        tell("hold", id, run.start_asked_ns);
    }

    void leave(const std::string& id, Run& run) {
        const std::uint64_t now = now_ns();
        run.inside = run.recalled = false;
        run.held_ns += now - run.opened_ns;
        run.turn_ns = (3 * run.turn_ns + (now - run.opened_ns)) / 4;
        tell("close", id, now);
    }

    Scene scene_at(std::uint64_t now) const {
        Scene scene;
        for (const auto& [id, run] : runs_) {
            const bool quiet = run.wants_quiet(now);
            scene.alone_inside |= run.inside && run.alone;
            scene.quiet_inside |= run.inside && quiet;
            scene.shared_inside |= run.inside && !run.alone;
            scene.starting |= run.is_starting(now);
            scene.alone_waits |= run.waits && run.alone;
            scene.brief_waits |= run.waits && run.alone && run.turn_ns <= BRIEF_NS;
            scene.quiet_waits |= run.waits && quiet;
            scene.shared_waits |= run.waits && !run.alone;
            scene.start_waits |= run.wants_start();
        }
        return scene;
    }

    // Whether others could have the device, or start, if this run left it.
    bool is_in_the_way(const Run& run, const Scene& scene) const {
        if (!run.alone) return scene.alone_waits;
        const bool keeps_starts = scene.quiet_inside && scene.start_waits && !quiet_.benchmarks();
        return scene.alone_waits || scene.shared_waits || keeps_starts;
    }

    // Either one benchmark has the device, or any number of other runs share it. A start delays the driver calls of all
    // runs and takes some of the device's time, so nothing starts beside a benchmark's first turns. Kinds that exclude
    // each other have priority in alternate phases.
    void let_in() {
        const std::uint64_t now = now_ns();
        const Scene scene = scene_at(now);
        quiet_.look(scene.quiet_waits || scene.quiet_inside, scene.start_waits || scene.starting,
                    quiet_.benchmarks() ? scene.starting : scene.quiet_inside, now);
        turns_.look(scene.alone_waits || scene.alone_inside, scene.shared_waits || scene.shared_inside,
                    turns_.benchmarks() ? scene.shared_inside : scene.alone_inside, now);
        const bool is_quiet = quiet_.benchmarks() && !scene.starting;
        if (!is_quiet) note_lack(now);
        looked_ns_ = now;
        if (!scene.alone_inside && !(turns_.benchmarks() && let_one_in(now, scene, is_quiet))) let_all_in(scene);
        if (!quiet_.benchmarks() && !scene_at(now).quiet_inside) let_start(now);
    }

    // Returns false if every waiting benchmark needs quiet while something starts. Other runs may then have the device.
    bool let_one_in(std::uint64_t now, const Scene& scene, bool is_quiet) {
        if (scene.shared_inside) return true;  // wait until the runs that share it have left
        const auto next = following(now, is_quiet);
        if (next == runs_.end()) return false;
        enter(next->first, next->second);
        return true;
    }

    void note_lack(std::uint64_t now) {
        for (auto& [id, run] : runs_)
            if (run.waits && run.wants_quiet(now)) run.lacked_ns += now - std::max(looked_ns_, run.asked_ns);
    }

    void let_all_in(const Scene& scene) {
        if (!scene.shared_waits) return;
        for (auto& [id, run] : runs_)
            if (run.waits && !run.alone) enter(id, run);
    }

    // Benchmarks start first, because their work fills the device while tests start. Then: first come, first served.
    void let_start(std::uint64_t now) {
        for (;;) {
            auto first = runs_.end();
            std::size_t starting = 0;
            for (auto run = runs_.begin(); run != runs_.end(); ++run) {
                starting += run->second.is_starting(now);
                if (run->second.wants_start() && (first == runs_.end() || starts_before(run->second, first->second)))
                    first = run;
            }
            if (first == runs_.end() || starting >= STARTS) return;
            Run& run = first->second;
            run.granted = run.wanted;  // all at once: children of a program may need to start together
            run.start_granted_ns = now;
            run.write_granted(run.granted);
            tell("begin", first->first, now);
        }
    }

    static bool starts_before(const Run& one, const Run& other) {
        return one.alone != other.alone ? one.alone : one.start_asked_ns < other.start_asked_ns;
    }

    // The waiting benchmark with the longest wait in relation to the length of its turns. A run with a hundred brief turns
    // then need not wait for long turns each time, and every run gets a turn at last.
    std::map<std::string, Run>::iterator following(std::uint64_t now, bool is_quiet) {
        auto next = runs_.end();
        double most = -1.0;
        for (auto run = runs_.begin(); run != runs_.end(); ++run) {
            const Run& one = run->second;
            if (!one.waits || !one.alone || (!is_quiet && one.wants_quiet(now))) continue;
            const double waited = static_cast<double>(now - one.asked_ns) / static_cast<double>(one.turn_ns);
            if (waited <= most) continue;
            most = waited;
            next = run;
        }
        return next;
    }

    void enter(const std::string& id, Run& run) {
        run.waits = false;
        run.inside = true;
        run.last_use_ns = 0;  // its wait does not count as a gap
        run.opened_ns = now_ns();
        run.write_open(1);
        tell("open", id, run.opened_ns);
    }

    const Clock clock_;
    std::map<std::string, Run> runs_;
    Shares quiet_;  // between benchmarks that need quiet and starts
    Shares turns_;  // between benchmarks and tests
    std::uint64_t looked_ns_ = 0;
    unsigned looks_ = 0;
};

}  // namespace podium
