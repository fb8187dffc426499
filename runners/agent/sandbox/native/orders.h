// What the agent asks of the supervisor: entries `key LENGTH\nVALUE\n` on stdin, closed by `end 0\n\n`.
#pragma once

#include "elf_symbols.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <unistd.h>
#include <vector>

struct Orders {
    std::string nonce;  // drawn per command; the contestant never sees it, so it cannot forge a report
    std::string over;   // likewise, and said before the command is dead: it may learn this one, for what it is worth
    std::string command;
    std::string workspace;  // becomes the working directory; programs under it are witnessed
    std::string launcher;   // path of pylaunch.py as the sandbox sees it
    std::string path_prefix;
    std::vector<std::string> environment;
    SourceFacts sources;
    long wall_ms = 0;
    long processor_ms = 0;  // past wall_ms the command goes on until it has used so much; 0: it ends at wall_ms
    long longest_ms = 0;    // or until so much wall time
    long file_bytes = 0;
    long open_files = 4096;
    long processes = 0;  // RLIMIT_NPROC; 0 leaves the bound to a control group
    long niceness = 0;   // added to the agent's own
    long channel = -1;   // descriptor of the command's channel, inherited from the agent
    long brake = -1;     // descriptor of a socket over which a judge stops and continues the command
    std::string door;    // or the socket where the agent hands both over
    bool inherit_environment = false;
    bool own_network = false;  // no other process shares its loopback device
    bool trace = false;
    bool harness_separate = false;
    bool linger = false;         // after the report, stay until the agent hangs up: it reads a scope that ends with us
    bool owns_everyone = false;  // every process this one may signal belongs to the command
};

[[noreturn]] inline void die(const char* what) {
    fprintf(stderr, "podium-supervisor: %s\n", what);
    _exit(125);
}

inline void read_exactly(char* buffer, size_t size) {
    for (size_t done = 0; done < size;) {
        ssize_t got = read(0, buffer + done, size - done);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) die("the orders on stdin ended early");
        done += static_cast<size_t>(got);
    }
}

inline std::string read_line() {
    std::string line;
    for (char letter; line.size() < 256; line.push_back(letter)) {
        read_exactly(&letter, 1);
        if (letter == '\n') return line;
    }
    die("a line of the orders is too long");
}

inline void apply_order(Orders& orders, const std::string& key, const std::string& value) {
    long number = strtol(value.c_str(), nullptr, 10);
    if (key == "nonce") orders.nonce = value;
    else if (key == "over") orders.over = value;
    else if (key == "command") orders.command = value;
    else if (key == "workspace") orders.workspace = value;
    else if (key == "launcher") orders.launcher = value;
    else if (key == "path_prefix") orders.path_prefix = value;
    else if (key == "harness_file") orders.sources.harness_files.insert(value);
    else if (key == "solution_file") orders.sources.solution_files.insert(value);
    else if (key == "harness_function") orders.sources.harness_functions.insert(value);
    else if (key == "is_mixed") orders.sources.is_mixed = number;
    else if (key == "env") orders.environment.push_back(value);
    else if (key == "wall_ms") orders.wall_ms = number;
    else if (key == "processor_ms") orders.processor_ms = number;
    else if (key == "longest_ms") orders.longest_ms = number;
    else if (key == "file_bytes") orders.file_bytes = number;
    else if (key == "open_files") orders.open_files = number;
    else if (key == "processes") orders.processes = number;
    else if (key == "niceness") orders.niceness = number;
    else if (key == "channel") orders.channel = number;
    else if (key == "brake") orders.brake = number;
    else if (key == "door") orders.door = value;
    else if (key == "inherit_environment") orders.inherit_environment = number;
    else if (key == "own_network") orders.own_network = number;
    else if (key == "trace") orders.trace = number;
    else if (key == "harness_separate") orders.harness_separate = number;
    else if (key == "linger") orders.linger = number;
    else if (key == "owns_everyone") orders.owns_everyone = number;
    else die("unknown order: the agent and its supervisor differ in version");
}

inline Orders read_orders() {
    Orders orders;
    for (;;) {
        std::string head = read_line();
        size_t space = head.find(' ');
        if (space == std::string::npos) die("malformed orders");
        std::string value(strtoul(head.c_str() + space + 1, nullptr, 10), '\0');
        if (value.size() > (16u << 20)) die("an order is too long");
        read_exactly(value.data(), value.size());
        char newline;
        read_exactly(&newline, 1);
        if (head.compare(0, space, "end") == 0) return orders;
        apply_order(orders, head.substr(0, space), value);
    }
}
