// The node's side of all gates of one device. Decides which run may use it, a hundred times faster than the node could.
//
// Reads commands from standard input and writes events to standard output, one per line. NS is the event's time in
// nanoseconds of CLOCK_MONOTONIC. The other end is runners/agent/devices/porter.py.
//
//     add ID PATH HOW              command: a new run. PATH is its page (gate.h); HOW is `alone` or `shared`
//     drop ID                      command: the run has ended
//     ask|open|close ID NS         event: the run wants a turn; its turn begins; its turn ends
//     hold|begin ID NS             event: a process of the run wants to start CUDA; all such processes of the run may
//     gone ID NS                   event: the run is removed, or its page cannot be opened
//
// rules.h holds the rules. This file gives them the real clock.
#include <poll.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <string>

#include "driver.h"
#include "rules.h"

namespace {

std::uint64_t now_ns() {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(now.tv_nsec);
}

}  // namespace

// Ends when the other end of standard input is closed, and so whenever the node ends. `keep-driver`: see driver.h.
int main(int n, char** words) {
    ::prctl(PR_SET_TIMERSLACK, 10'000);
    if (n > 1 && std::strcmp(words[1], "keep-driver") == 0) podium::keep_driver_open();
    podium::Porter porter(now_ns);
    std::string held;
    const timespec pause{0, static_cast<long>(podium::LOOK_NS)};
    for (;;) {
        pollfd input{STDIN_FILENO, POLLIN, 0};
        const int ready = porter.empty() ? ::poll(&input, 1, -1) : ::ppoll(&input, 1, &pause, nullptr);
        if (ready > 0) {
            char part[4096];
            const ssize_t got = ::read(STDIN_FILENO, part, sizeof part);
            if (got <= 0) return 0;
            held.append(part, static_cast<std::size_t>(got));
            for (std::size_t end; (end = held.find('\n')) != std::string::npos; held.erase(0, end + 1))
                porter.obey(held.substr(0, end));
        }
        porter.look();
    }
}
