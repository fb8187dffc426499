// Feeds the recorder of libpodium_cupti.so with made-up ranges, launches and records, one a line on stdin, and prints
// its JSON. Stands for CUPTI and the device, which a machine without a GPU does not have.
//   push|start THREAD DOMAIN|ID NAME_IN_HEX NOW    pop THREAD DOMAIN NOW    end ID NOW
//   launch CORRELATION THREAD NOW                  dropped COUNT
//   kernel|copy|fill CORRELATION START END BYTES NAME_IN_HEX
#include <iostream>
#include <map>
#include <sstream>

#include "recorder.h"
#include "text.h"

namespace {

std::uint64_t last_time = 0;

std::uint64_t clock_of_the_script() { return last_time; }

std::string unhex(const std::string& digits) {
    std::string raw;
    for (std::size_t i = 1; i + 1 < digits.size(); i += 2) raw += static_cast<char>(std::stoi(digits.substr(i, 2), nullptr, 16));
    return raw;
}

struct Script {
    podium::Recorder recorder{1000};
    std::map<std::uint64_t, std::uint64_t> started;

    void host(const std::string& verb, std::istream& line) {
        std::uint64_t first = 0, second = 0;
        std::string name;
        if (verb == "push" || verb == "start") {
            line >> first >> second >> name >> last_time;
            const std::string text = podium::clean(unhex(name));
            const std::string* given = name == "-" ? nullptr : &text;
            if (verb == "push") recorder.push(first, second, given, last_time);
            else started[second] = recorder.start(first, given, last_time);
        } else if (verb == "pop") {
            line >> first >> second >> last_time;
            recorder.pop(first, second, last_time);
        } else if (verb == "end") {
            line >> first >> last_time;
            recorder.end(started[first], last_time);
        } else {
            line >> first >> second >> last_time;
            recorder.launched(static_cast<std::uint32_t>(first), second, last_time);
        }
    }

    void device(const std::string& verb, std::istream& line) {
        podium::Activity activity{};
        std::string name;
        line >> activity.correlation >> activity.start >> activity.end >> activity.bytes >> name;
        activity.work = verb == "kernel" ? podium::Work::kernel : verb == "copy" ? podium::Work::copy : podium::Work::fill;
        const std::string raw = unhex(name);
        activity.name = raw;
        recorder.ran(activity);
    }
};

}  // namespace

int main() {
    Script script;
    script.recorder.context_created();
    for (std::string text; std::getline(std::cin, text);) {
        std::istringstream line(text);
        std::string verb;
        line >> verb;
        if (verb == "kernel" || verb == "copy" || verb == "fill") script.device(verb, line);
        else if (verb == "dropped") script.recorder.dropped(1);
        else script.host(verb, line);
    }
    std::cout << script.recorder.json(7, clock_of_the_script, true);
}
