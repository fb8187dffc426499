// How much processor time a process's descendants have used.
#pragma once

#include "files.h"

#include <cstdlib>
#include <map>
#include <string>
#include <sys/resource.h>
#include <unistd.h>
#include <vector>

struct ProcessTimes {
    pid_t parent = 0;
    double used_ms = 0;  // its own and that of the children it has waited for
};

inline double milliseconds(const timeval& time) {
    return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_usec) / 1e3;
}

// Of the children that this process has waited for, and of theirs.
inline double waited_for_cpu_ms() {
    rusage usage{};
    getrusage(RUSAGE_CHILDREN, &usage);
    return milliseconds(usage.ru_utime) + milliseconds(usage.ru_stime);
}

// Fields 4 and 14 to 17 of /proc/PID/stat; the program's name before them may hold anything.
inline ProcessTimes times_in(const std::string& stat) {
    const size_t name_end = stat.rfind(')');
    if (name_end == std::string::npos) return {};
    const char* at = stat.c_str() + name_end + 1;
    while (*at == ' ' || (*at >= 'A' && *at <= 'z')) ++at;
    ProcessTimes times;
    double ticks = 0;
    for (int field = 4; field <= 17; ++field) {
        char* after = nullptr;
        const long value = strtol(at, &after, 10);
        at = after;
        if (field == 4) times.parent = static_cast<pid_t>(value);
        if (field >= 14) ticks += static_cast<double>(value);
    }
    times.used_ms = ticks * 1e3 / static_cast<double>(sysconf(_SC_CLK_TCK));
    return times;
}

inline std::map<pid_t, ProcessTimes> all_processes() {
    std::map<pid_t, ProcessTimes> found;
    std::vector<std::string> names;
    list_folder("/proc", names);
    for (const std::string& name : names) {
        const pid_t process = static_cast<pid_t>(strtol(name.c_str(), nullptr, 10));
        if (process > 0) found[process] = times_in(read_small_file("/proc/" + name + "/stat"));
    }
    return found;
}

// Of all descendants of this process, ended ones included. A process that is waited for during the look may count twice
// or not at all, and a child that its parent lets the kernel reap is lost.
inline double descendants_cpu_ms() {
    double total_ms = waited_for_cpu_ms();
    const std::map<pid_t, ProcessTimes> processes = all_processes();
    std::multimap<pid_t, pid_t> children;
    for (const auto& [process, times] : processes) children.emplace(times.parent, process);
    std::vector<pid_t> pending{getpid()};
    while (!pending.empty()) {
        const auto [first, last] = children.equal_range(pending.back());
        pending.pop_back();
        for (auto child = first; child != last; ++child) {
            total_ms += processes.at(child->second).used_ms;
            pending.push_back(child->second);
        }
    }
    return total_ms;
}

// Looks twice, so that no process that counts twice in one look decides.
inline bool descendants_have_used(double limit_ms) {
    return descendants_cpu_ms() >= limit_ms && descendants_cpu_ms() >= limit_ms;
}
