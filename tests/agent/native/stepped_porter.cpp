// The porter's rules under a clock that a test drives: time passes only where a command says so.
//
//     pass NS      let that much time pass, in the porter's own steps; answers `passed - NS` with the time by then
//
// All other commands and events are the porter's.
#include <algorithm>
#include <cstdint>
#include <iostream>
#include <string>

#include "rules.h"

namespace {

std::uint64_t now_ns = 1'000'000'000;

std::uint64_t read_clock() { return now_ns; }

void pass(podium::Porter& porter, std::uint64_t for_ns) {
    for (const std::uint64_t end_ns = now_ns + for_ns; now_ns < end_ns; porter.look())
        now_ns = std::min(end_ns, now_ns + podium::LOOK_NS);
    podium::tell("passed", "-", now_ns);
}

}  // namespace

int main() {
    podium::Porter porter(read_clock);
    for (std::string line; std::getline(std::cin, line);) {
        if (line.rfind("pass ", 0) == 0)
            pass(porter, std::stoull(line.substr(5)));
        else
            porter.obey(line);
    }
}
