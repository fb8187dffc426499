// What else this machine did while the command ran, and how long the command was kept from the cores.
#pragma once

#include "files.h"

#include <algorithm>
#include <cstdlib>
#include <string>
#include <unistd.h>

struct HostTimes {
    double busy_ms = 0, steal_ms = 0;  // over all cores since the machine's start

    // The first line of /proc/stat: user, nice, system, idle, iowait, irq, softirq, steal.
    static HostTimes now() {
        const std::string stat = read_file("/proc/stat", 256);
        if (stat.compare(0, 4, "cpu ") != 0) return {};
        double times_ms[8] = {};
        const char* at = stat.c_str() + 4;
        for (double& time : times_ms) {
            char* after = nullptr;
            time = static_cast<double>(strtoull(at, &after, 10)) * 1e3 / static_cast<double>(sysconf(_SC_CLK_TCK));
            at = after;
        }
        return {times_ms[0] + times_ms[1] + times_ms[2] + times_ms[5] + times_ms[6], times_ms[7]};
    }
};

// How long the command's threads were ready to run while others had the cores. Sleeping and waiting do not count.
class CoreWaits {
public:
    // `task` has ended and is not yet waited for: after that the kernel forgets its times.
    void note(pid_t task) {
        const std::string times = read_small_file("/proc/" + std::to_string(task) + "/schedstat");
        char* after = nullptr;
        strtoull(times.c_str(), &after, 10);  // nanoseconds on a core, before those of waiting for one
        add(static_cast<double>(strtoull(after, nullptr, 10)) / 1e6);
    }

    // So long waited one thread.
    void add(double waited_ms) {
        longest_ms_ = std::max(longest_ms_, waited_ms);
        total_ms_ += waited_ms;
    }

    // By how much the waits lengthened the run: those of the thread that waited longest, or of all where the command
    // had its threads one after another and was off the cores for as long.
    double lost_ms(double wall_ms, double cpu_ms) const {
        return std::min(wall_ms, std::max(longest_ms_, std::min(total_ms_, wall_ms - cpu_ms)));
    }

private:
    double longest_ms_ = 0, total_ms_ = 0;
};
