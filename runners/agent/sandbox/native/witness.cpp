#include "witness.h"

#include "elf_symbols.h"
#include "files.h"

#include <algorithm>
#include <climits>
#include <csignal>
#include <fcntl.h>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>

#if defined(__x86_64__)
constexpr bool kCanWitness = true;
#else
constexpr bool kCanWitness = false;
#endif

enum class Image { system, own, python };

struct Breakpoint {
    uint64_t address = 0;
    unsigned char original = 0;
    bool armed = false;
    bool has_status = false;  // of an end: the call there gives the program's status
};

struct Process {
    Image image = Image::system;
    std::string name;
    bool forked = false;      // a copy of its parent that ran no program of its own yet: it makes no claim
    bool first_stop = false;  // still to be met stopped at its birth
    bool shares_memory = false;
    bool readable = true;
    bool replaced = false;    // its program was exchanged for another before it reached its end
    bool hands_over = false;  // its harness is about to exchange the program for another
    bool ended_well = false;
    bool is_static = false;  // it maps no C library
    bool is_over = false;    // `main` has ended: what happens afterwards changes nothing
    uint64_t base = 0;
    uint64_t main_stack = 0;  // the stack pointer as `main` found it, and where `main` was to return to
    uint64_t return_to = 0;
    std::shared_ptr<const ElfFacts> facts = std::make_shared<ElfFacts>();
    Breakpoint entry, back;
    std::vector<Breakpoint> ends;

    std::vector<Breakpoint*> breakpoints() {
        std::vector<Breakpoint*> all{&entry, &back};
        for (Breakpoint& end : ends) all.push_back(&end);
        return all;
    }
};

static std::string proc_path(pid_t pid, const char* leaf) { return "/proc/" + std::to_string(pid) + "/" + leaf; }

static std::string executable_of(pid_t pid) {
    char target[PATH_MAX];
    ssize_t length = readlink(proc_path(pid, "exe").c_str(), target, sizeof target);
    return length > 0 ? std::string(target, static_cast<size_t>(length)) : std::string();
}

static pid_t parent_of(pid_t task) {
    std::string status = read_small_file(proc_path(task, "status"));
    size_t at = status.find("\nPPid:");
    return at == std::string::npos ? 0 : static_cast<pid_t>(strtol(status.c_str() + at + 6, nullptr, 10));
}

static bool is_thread_of(pid_t process, pid_t task) { return syscall(SYS_tgkill, process, task, 0) == 0; }

static uint64_t entry_address_of(pid_t pid) {
    std::string vector = read_small_file(proc_path(pid, "auxv"));
    for (size_t at = 0; at + 16 <= vector.size(); at += 16) {
        uint64_t pair[2];
        memcpy(pair, vector.data() + at, sizeof pair);
        if (pair[0] == AT_ENTRY) return pair[1];
    }
    return 0;
}

constexpr uint64_t kLargestStack = 64 << 20, kLargestChain = 512 << 10;  // of a thread; of the calls that end a program
constexpr int kMostNames = 64;                                           // that are looked at for one address
constexpr uint64_t kLongestWrapper = 256;             // bytes of the library's functions that only make a system call
constexpr uint64_t kLandingPad = 0xFFFFFFFFFA1E0FF3;  // endbr64, read as a signed distance

static bool same_file(const char* one, const char* other) {
    struct stat a{}, b{};
    return stat(one, &a) == 0 && stat(other, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

class Witness::Watch {
public:
    Watch(const Orders& orders, std::string workspace, int end_signal)
        : orders_(orders), workspace_(std::move(workspace)), end_signal_(end_signal) {}

    // `child` waits for its start; from here on it and all it starts stop for the witness.
    bool seize(pid_t child) {
        long options = PTRACE_O_EXITKILL | PTRACE_O_TRACEEXEC | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |
                       PTRACE_O_TRACECLONE | PTRACE_O_TRACESECCOMP;
        processes_[child] = Process();
        threads_[child] = child;
        active_ = kCanWitness && ptrace(PTRACE_SEIZE, child, 0, options) == 0;
        return active_;
    }

    void on_stop(pid_t task, int status) {
        if (!threads_.count(task)) {
            early_.insert(task);  // it waits for its parent's event, which tells whose it is
            return;
        }
        Process& process = processes_[threads_[task]];
        if (process.first_stop) release_copy(task, process);
        int event = status >> 16, signal = WSTOPSIG(status);
        if (event == PTRACE_EVENT_FORK || event == PTRACE_EVENT_VFORK || event == PTRACE_EVENT_CLONE)
            on_birth(task, event);
        else if (event == PTRACE_EVENT_EXEC) on_exec(threads_[task]);
        else if (event == PTRACE_EVENT_SECCOMP) on_call(task, process);
        else if (event == PTRACE_EVENT_STOP && signal != SIGTRAP) return resume(PTRACE_LISTEN, task, 0);
        else if (event == 0 && !swallowed(task, process, signal)) return resume(PTRACE_CONT, task, signal);
        resume(PTRACE_CONT, task, 0);
    }

    void on_end(pid_t task, int status) {
        auto found = threads_.find(task);
        early_.erase(task);
        if (!early_.empty()) release_orphans();
        if (found == threads_.end()) return;
        bool whole_process = found->second == task;
        threads_.erase(found);
        if (!whole_process) return;
        if (WIFEXITED(status) && WEXITSTATUS(status) == 0) judge(processes_[task]);
        processes_.erase(task);
    }

    const char* verdict() const {
        if (!contradiction_.empty()) return "contradicted";
        return seen_ > 0 ? "seen" : "unavailable";
    }

    std::string detail() const {
        if (!contradiction_.empty()) return contradiction_;
        if (seen_ > 0) return "the end of " + std::to_string(seen_) + " program(s) was seen from outside";
        if (!active_) return "nothing was traced";
        return unknown_.empty() ? "the command ran no program of the workspace" : unknown_;
    }

private:
    static void resume(int request, pid_t task, int signal) {
        ptrace(static_cast<__ptrace_request>(request), task, 0, static_cast<long>(signal));
    }

    // A parent killed in the middle of a fork tells of no birth: its child is ours now and waits for nothing.
    void release_orphans() {
        for (auto task = early_.begin(); task != early_.end();) {
            if (parent_of(*task) != getpid()) {
                ++task;
                continue;
            }
            threads_[*task] = *task;
            processes_[*task].forked = true;
            resume(PTRACE_CONT, *task, 0);
            task = early_.erase(task);
        }
    }

    void on_birth(pid_t parent_task, int event) {
        unsigned long message = 0;
        if (ptrace(PTRACE_GETEVENTMSG, parent_task, 0, &message) != 0) return;
        pid_t child = static_cast<pid_t>(message), parent = threads_[parent_task];
        if (event == PTRACE_EVENT_CLONE && is_thread_of(parent, child)) {
            threads_[child] = parent;
            processes_.erase(child);
        } else if (!processes_.count(child)) {
            Process copy = processes_[parent];
            copy.forked = copy.first_stop = true;
            copy.replaced = copy.hands_over = copy.ended_well = copy.is_over = false;
            copy.shares_memory = event == PTRACE_EVENT_VFORK;
            processes_[child] = copy;
            threads_[child] = child;
        }
        if (early_.erase(child)) {
            if (processes_.count(child)) release_copy(child, processes_[child]);
            resume(PTRACE_CONT, child, 0);
        }
    }

    // A forked copy carries its parent's breakpoints in its own memory and must not trip over them.
    void release_copy(pid_t task, Process& process) {
        process.first_stop = false;
        if (process.shares_memory) return;
        if (process.back.armed && word_at(task, process.main_stack) == process.back.address)
            write_word(task, process.main_stack, process.return_to);
        for (Breakpoint* point : process.breakpoints()) disarm(task, *point);
    }

    void on_exec(pid_t pid) {
        for (auto thread = threads_.begin(); thread != threads_.end();)
            thread = thread->second == pid && thread->first != pid ? threads_.erase(thread) : std::next(thread);
        Process& before = processes_[pid];
        Process now;
        if (before.hands_over && !before.forked) ++seen_;
        bool claimed = before.image != Image::system && !before.forked && !before.ended_well && !before.hands_over;
        claimed = claimed && !is_contestants(before);
        now.replaced = before.replaced || claimed;
        now.name = now.replaced ? before.name : std::string();
        classify(pid, now);
        before = now;
    }

    void classify(pid_t pid, Process& process) {
        std::string path = executable_of(pid), link = proc_path(pid, "exe");
        if (process.name.empty()) process.name = path.substr(path.rfind('/') + 1);
        if (!path.empty() && same_file(link.c_str(), "/proc/self/exe")) return;
        if (path.empty() || belongs_to_contestant(path)) return classify_own(pid, process, link);
        std::string arguments = read_small_file(proc_path(pid, "cmdline"));
        std::string launcher = '\0' + orders_.launcher + '\0';
        if (!orders_.launcher.empty() && arguments.find(launcher) != std::string::npos) process.image = Image::python;
    }

    bool belongs_to_contestant(const std::string& path) const {
        for (const std::string& folder :
             {workspace_ + "/", std::string("/tmp/"), std::string("/var/tmp/"), std::string("/dev/")})
            if (path.compare(0, folder.size(), folder) == 0) return true;
        return path.find("/memfd:") != std::string::npos || path.find(" (deleted)") != std::string::npos;
    }

    void classify_own(pid_t pid, Process& process, const std::string& link) {
        process.image = Image::own;
        int file = open(link.c_str(), O_RDONLY | O_CLOEXEC);
        process.readable = file >= 0;
        if (file < 0) return;
        process.facts = std::make_shared<ElfFacts>(read_elf(file, &orders_.sources));
        close(file);
        process.readable = !process.facts->is_excessive;
        process.base = entry_address_of(pid) - process.facts->entry;
        if (process.facts->main.start != 0) arm(pid, process.entry, process.base + process.facts->main.start);
    }

    // True where the signal was the witness's own business and the contestant must not get it.
    bool swallowed(pid_t task, Process& process, int signal) {
        if (signal == end_signal_) {
            if (process.image == Image::python && !process.forked) process.ended_well = true;
            return true;
        }
        return signal == SIGTRAP && on_trap(task, process);
    }

#if defined(__x86_64__)
    bool on_trap(pid_t task, Process& process) {
        user_regs_struct registers{};
        if (ptrace(PTRACE_GETREGS, task, 0, &registers) != 0) return false;
        uint64_t address = registers.rip - 1;
        Breakpoint* hit = nullptr;
        for (Breakpoint* point : process.breakpoints())
            if (point->address == address && address != 0) hit = point;
        if (hit == nullptr || (!hit->armed && byte_at(task, address) == 0xCC)) return false;
        disarm(task, *hit);
        bool returned = hit == &process.back && !process.forked;
        registers.rip = returned ? process.return_to : address;
        ptrace(PTRACE_SETREGS, task, 0, &registers);
        if (process.forked) return true;
        if (hit == &process.entry) on_main_entry(task, process, registers.rsp);
        else if (returned) note_return(process, registers);
        else if (hit != &process.back) note_end(task, process, registers, hit->has_status);
        return true;
    }

    // `main` is made to return into the start-up code, which nothing runs a second time. Watching the place where it
    // was called from would not do: the C library goes there too when pthread_exit ends the first thread. The address
    // lies one past the first byte of that code because unwinders look at the byte before, and there find the end.
    void on_main_entry(pid_t task, Process& process, uint64_t stack) {
        process.main_stack = stack;
        process.return_to = word_at(task, stack);
        arm(task, process.back, process.base + process.facts->entry + 1);
        if (process.back.armed) write_word(task, stack, process.back.address);
        std::vector<End> ends = library_ends(task);
        process.is_static = ends.empty();
        if (process.is_static)
            for (const End& own : process.facts->ends) ends.push_back({process.base + own.address, own.has_status});
        for (const End& end : ends) {
            auto same = [&](const Breakpoint& point) { return point.address == end.address; };
            if (std::any_of(process.ends.begin(), process.ends.end(), same)) continue;
            process.ends.emplace_back();
            process.ends.back().has_status = end.has_status;
            arm(task, process.ends.back(), end.address);
        }
    }

    static void note_return(Process& process, const user_regs_struct& registers) {
        process.is_over = true;
        process.ended_well = registers.rsp == process.main_stack + 8 && (registers.rax & 0xFF) == 0;
    }

    void note_end(pid_t task, Process& process, const user_regs_struct& registers, bool has_status) {
        if (process.is_over) return;
        bool by_harness = is_harness_s(task, process, registers.rsp, {registers.rip, registers.rip + 1});
        process.ended_well = by_harness && (!has_status || (registers.rdi & 0xFF) == 0);
        process.is_over = by_harness || has_status;  // a thread may end without the process
    }

    // A system call that exchanges the program or ends it is about to be made.
    void on_call(pid_t task, Process& process) {
        user_regs_struct registers{};
        if (process.image != Image::own || process.forked || process.is_over) return;
        if (ptrace(PTRACE_GETREGS, task, 0, &registers) != 0) return;
        bool is_end = registers.orig_rax == SYS_exit_group;
        if (is_end && (registers.rdi & 0xFF) != 0) return;
        Range callee = is_end ? Range{registers.rip - kLongestWrapper, registers.rip} : Range{};
        bool by_harness = is_harness_s(task, process, registers.rsp, callee);
        (is_end ? process.ended_well : process.hands_over) = by_harness;
    }

    // Whether the call whose return address lies at `stack` was made by `main`, itself or through functions that only
    // the harness can have defined. Such a function's caller is found by its call, which names the function's start.
    // `callee` holds the start of the library's function that was called; it is empty where that calls on.
    bool is_harness_s(pid_t task, const Process& process, uint64_t stack, const Range& callee) {
        if (orders_.sources.is_mixed || process.main_stack - stack > kLargestStack) return false;  // of another thread
        const std::vector<Mapping> code = code_of(task);
        const Function* function = nullptr;
        uint64_t end = std::min(process.main_stack, stack + kLargestChain);
        for (uint64_t at = stack; at < end; at += sizeof(uint64_t)) {
            uint64_t address = word_at(task, at);
            const Function* caller = function_with(process, address - process.base);
            if (caller == nullptr && function == nullptr && is_contestant_code(code, address)) return false;
            if (caller == nullptr) continue;
            uint64_t target = call_target(task, address);
            const Function* called = function_at(process, target - process.base);
            if (function != nullptr && (called == nullptr || called->name != function->name)) continue;
            if (called != nullptr && may_be_the_solution_s(process, *called)) return false;  // it jumped on
            if (called == nullptr && !is_the_library_s(code, through_stub(task, address, target), callee)) return false;
            if (caller->owner != Owner::harness) return caller->owner == Owner::main;
            function = caller;
        }
        return false;
    }

    static bool may_be_the_solution_s(const Process& process, const Function& function) {
        return function.owner == Owner::unknown || (function.owner == Owner::library && !process.is_static);
    }

    struct Mapping {
        Range range;
        bool belongs_to_contestant;
    };

    std::vector<Mapping> code_of(pid_t task) const {
        std::vector<Mapping> code;
        std::string maps = read_small_file(proc_path(task, "maps"));
        for (size_t at = 0, next; at < maps.size(); at = next + 1) {
            next = std::min(maps.find('\n', at), maps.size());
            std::string line = maps.substr(at, next - at);
            size_t dash = line.find('-'), space = line.find(' '), path = line.find('/');
            if (dash > space || space == std::string::npos || line.compare(space, 5, " r-xp") != 0) continue;
            Range range{strtoul(line.c_str(), nullptr, 16), strtoul(line.c_str() + dash + 1, nullptr, 16)};
            code.push_back({range, path == std::string::npos || belongs_to_contestant(line.substr(path))});
        }
        return code;
    }

    static const Mapping* mapping_with(const std::vector<Mapping>& code, uint64_t address) {
        auto is_before = [](uint64_t place, const Mapping& one) {
            return place < one.range.start;
        };  // the kernel sorts
        auto after = std::upper_bound(code.begin(), code.end(), address, is_before);
        return after == code.begin() || address >= (after - 1)->range.end ? nullptr : &*(after - 1);
    }

    static bool is_contestant_code(const std::vector<Mapping>& code, uint64_t address) {
        const Mapping* mapping = mapping_with(code, address);
        return mapping != nullptr && mapping->belongs_to_contestant;
    }

    static bool is_the_library_s(const std::vector<Mapping>& code, uint64_t address, const Range& callee) {
        const Mapping* mapping = mapping_with(code, address);
        if (mapping == nullptr || mapping->belongs_to_contestant) return false;
        return callee.end == 0 || (address >= callee.start && address < callee.end);
    }

    static const Function* function_with(const Process& process, uint64_t address) {
        return function_that(process, address, [&](const Function& one) { return inside(one.range, address); });
    }

    static const Function* function_at(const Process& process, uint64_t address) {
        return function_that(process, address, [&](const Function& one) { return one.range.start == address; });
    }

    // Of several names of one function, one that is nobody's counts: the solution may add names. It harms only itself
    // by so many that the function is not found.
    template <typename Test>
    static const Function* function_that(const Process& process, uint64_t address, Test test) {
        const std::vector<Function>& all = process.facts->functions;
        auto is_before = [](uint64_t place, const Function& one) { return place < one.range.start; };
        auto one = std::upper_bound(all.begin(), all.end(), address, is_before);
        const Function* found = nullptr;
        for (int count = 0; count < kMostNames && one != all.begin(); ++count)
            if (test(*--one) && (found == nullptr || one->owner == Owner::unknown)) found = &*one;
        return found;
    }

    // Where the direct call goes that returns to `address`; 0 for another call.
    static uint64_t call_target(pid_t task, uint64_t address) {
        return byte_at(task, address - 5) == 0xE8 ? address + distance_at(task, address - 4) : 0;
    }

    // Where the call that returns to `address` arrives: by way of the linker's stub at `target`, or of its table.
    static uint64_t through_stub(pid_t task, uint64_t address, uint64_t target) {
        uint64_t jump = target;
        if (target == 0) jump = address - 6;
        else if (distance_at(task, target) == kLandingPad) jump += 4;
        if (target != 0 && byte_at(task, jump) == 0xF2) ++jump;
        if (byte_at(task, jump) != 0xFF || byte_at(task, jump + 1) != (target == 0 ? 0x15 : 0x25)) return 0;
        return word_at(task, jump + 6 + distance_at(task, jump + 2));
    }

    static uint64_t distance_at(pid_t task, uint64_t address) {
        uint32_t distance = 0;
        for (uint64_t part = 0; part < 4; ++part)
            distance |= static_cast<uint32_t>(byte_at(task, address + part)) << (8 * part);
        return static_cast<uint64_t>(static_cast<int64_t>(static_cast<int32_t>(distance)));
    }
#else
    bool on_trap(pid_t, Process&) { return false; }
    void on_call(pid_t, Process&) {}
#endif

    // A call of a function that never returns may be the last instruction: its return address is the end itself.
    static bool inside(const Range& range, uint64_t address) { return address > range.start && address <= range.end; }

    static uint64_t word_at(pid_t task, uint64_t address) {
        errno = 0;
        long word = ptrace(PTRACE_PEEKDATA, task, address, 0);
        return errno == 0 ? static_cast<uint64_t>(word) : 0;
    }

    static unsigned char byte_at(pid_t task, uint64_t address) {
        return static_cast<unsigned char>(word_at(task, address & ~7ul) >> (8 * (address & 7)));
    }

    static void write_word(pid_t task, uint64_t address, uint64_t value) {
        ptrace(PTRACE_POKEDATA, task, address, value);
    }

    static bool write_byte(pid_t task, uint64_t address, unsigned char value) {
        uint64_t shift = 8 * (address & 7), aligned = address & ~7ul;
        errno = 0;
        long word = ptrace(PTRACE_PEEKDATA, task, aligned, 0);
        if (errno != 0) return false;
        uint64_t changed = (static_cast<uint64_t>(word) & ~(0xFFul << shift)) | (static_cast<uint64_t>(value) << shift);
        return ptrace(PTRACE_POKEDATA, task, aligned, changed) == 0;
    }

    static void arm(pid_t task, Breakpoint& point, uint64_t address) {
        point.address = address;
        point.original = byte_at(task, address);
        point.armed = write_byte(task, address, 0xCC);
    }

    static void disarm(pid_t task, Breakpoint& point) {
        if (point.armed) write_byte(task, point.address, point.original);
        point.armed = false;
    }

    // The ends in the C library that `task` maps; none in a static program.
    std::vector<End> library_ends(pid_t task) {
        std::string maps = read_small_file(proc_path(task, "maps"));
        for (size_t at = 0, next; at < maps.size(); at = next + 1) {
            next = std::min(maps.find('\n', at), maps.size());
            size_t path = maps.find('/', at);
            if (path == std::string::npos || path > next) continue;
            std::string file = maps.substr(path, next - path);
            bool is_library =
                file.find("/libc.so.6") != std::string::npos || file.find("/libc-2.") != std::string::npos;
            if (!is_library || belongs_to_contestant(file)) continue;
            uint64_t start = strtoul(maps.c_str() + at, nullptr, 16);
            std::vector<End> ends = ends_in(file);
            for (End& end : ends) end.address += start;
            return ends;
        }
        return {};
    }

    const std::vector<End>& ends_in(const std::string& library) {
        auto known = library_ends_.find(library);
        if (known != library_ends_.end()) return known->second;
        int file = open(library.c_str(), O_RDONLY | O_CLOEXEC);
        ElfFacts facts = file < 0 ? ElfFacts() : read_elf(file, nullptr);
        if (file >= 0) close(file);
        return library_ends_[library] = facts.ends;
    }

    // A program with a `main` of the solution's and without any code of the harness's judges nothing.
    static bool is_contestants(const Process& process) {
        return process.image == Image::own && process.facts->has_solution_file && !process.facts->has_harness_file;
    }

    void judge(const Process& process) {
        if (process.forked) return;
        if (process.replaced) return contradict(process, "was replaced by another program before its end");
        if (process.image == Image::system) return;
        if (!process.readable) return contradict(process, "hid its program from the witness");
        if (process.image == Image::own && process.facts->main.start == 0) {
            unknown_ = process.name + " names no main function to watch";
        } else if (!process.ended_well && is_contestants(process)) {
            unknown_ = process.name + " is the solution's own program";
        } else if (!process.ended_well) {
            contradict(process, process.image == Image::own
                                    ? "ended with status 0, but not by the end of its main"
                                    : "ended with status 0, but its script did not reach its end");
        } else if (process.image == Image::own || orders_.harness_separate) {
            ++seen_;
        } else {
            unknown_ = "the script reached its end, but shares its process with the solution";
        }
    }

    void contradict(const Process& process, const char* what) {
        if (contradiction_.empty()) contradiction_ = process.name + " " + what;
    }

    const Orders& orders_;
    std::string workspace_;
    int end_signal_;
    bool active_ = false;
    int seen_ = 0;
    std::string contradiction_, unknown_;
    std::map<pid_t, Process> processes_;
    std::map<pid_t, pid_t> threads_;  // every task to its process
    std::set<pid_t> early_;           // met before their parent's event
    std::map<std::string, std::vector<End>> library_ends_;
};

Witness::Witness(const Orders& orders, std::string workspace, int end_signal)
    : watch_(new Watch(orders, std::move(workspace), end_signal)) {}
Witness::~Witness() { delete watch_; }

bool Witness::seize(pid_t child) { return watch_->seize(child); }
void Witness::on_stop(pid_t task, int status) { watch_->on_stop(task, status); }
void Witness::on_end(pid_t task, int status) { watch_->on_end(task, status); }
const char* Witness::verdict() const { return watch_->verdict(); }
std::string Witness::detail() const { return watch_->detail(); }
