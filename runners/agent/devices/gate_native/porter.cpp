// The node's side of all gates of one device: says who may use it, a hundred times faster than the node itself could.
//
// Commands come on standard input, a line each, and events go to standard output with the time in nanoseconds of
// CLOCK_MONOTONIC; runners/agent/devices/porter.py is the other end.
//
//     add ID PATH HOW              a run whose page (gate.h) is the file PATH; HOW it wants the device: `alone` or `shared`
//     drop ID                      it has ended
//     ask|open|close ID NS         it wants the device; it gets it; it has given it back
//     hold|begin ID NS             a process of it wants to start CUDA; all that wanted may
//     gone ID NS                   it is dropped
//
// rules.h decides; here its clock is real.
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

// Ends when the node's end of standard input is closed, however the node ended. `keep-driver`: see driver.h.
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
