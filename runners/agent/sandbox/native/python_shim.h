// Stands on PATH as `python`: finds the real interpreter behind itself and lets the launcher run the script.
#pragma once

#include "orders.h"

#include <algorithm>
#include <cstring>
#include <climits>
#include <string>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

inline bool is_this_program(const std::string& path) {
    struct stat own{}, other{};
    return stat("/proc/self/exe", &own) == 0 && stat(path.c_str(), &other) == 0 && own.st_dev == other.st_dev &&
           own.st_ino == other.st_ino;
}

constexpr char kBasePath[] = "/usr/local/bin:/usr/bin:/bin";

// The next program of this name on `path` that is not this one.
inline std::string program_behind_us(const char* name, const std::string& path) {
    for (size_t at = 0; at <= path.size();) {
        size_t colon = std::min(path.find(':', at), path.size());
        std::string candidate = path.substr(at, colon - at) + "/" + name;
        if (candidate[0] == '/' && access(candidate.c_str(), X_OK) == 0 && !is_this_program(candidate))
            return candidate;
        at = colon + 1;
    }
    return "";
}

inline std::string program_behind_us(const char* name) {
    const char* path = getenv("PATH");
    return program_behind_us(name, path == nullptr ? kBasePath : path);
}

// How many leading arguments are options the interpreter itself must see; -1 where the launcher has no part
// (standard input, --help and their like).
inline int leading_options(char** arguments) {
    int index = 1;
    for (; arguments[index] != nullptr && arguments[index][0] == '-'; ++index) {
        const char* option = arguments[index];
        if (strcmp(option, "-m") == 0 || strcmp(option, "-c") == 0)
            return arguments[index + 1] == nullptr ? -1 : index - 1;
        bool has_value = option[1] == 'W' || option[1] == 'X';
        if (has_value && option[2] == '\0' && arguments[++index] == nullptr) return -1;
        if (!has_value && (option[1] == '\0' || strpbrk(option + 1, "-cmhVix?") != nullptr)) return -1;
    }
    return arguments[index] == nullptr ? -1 : index - 1;
}

inline bool is_one_file(const std::string& one, const std::string& other) {
    struct stat a{}, b{};
    return stat(one.c_str(), &a) == 0 && stat(other.c_str(), &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

// Whether the program to run is one of the contestant's own files. It judges nothing, so its end is its own affair.
inline bool is_contestants(char** arguments) {
    const char* list = getenv("PODIUM_SOLUTION_FILES");
    const char* workspace = getenv("PODIUM_WORKSPACE");
    if (list == nullptr || workspace == nullptr || strcmp(arguments[0], "-c") == 0) return false;
    std::vector<std::string> programs{arguments[0]};
    if (programs[0] == "-m") {
        std::string module = arguments[1];
        std::replace(module.begin(), module.end(), '.', '/');
        programs = {module + ".py", module + "/__main__.py"};
    }
    std::string files = list;
    for (size_t at = 0, colon; at < files.size(); at = colon + 1) {
        colon = std::min(files.find(':', at), files.size());
        std::string file = std::string(workspace) + "/" + files.substr(at, colon - at);
        for (const std::string& program : programs)
            if (is_one_file(program, file)) return true;
    }
    return false;
}

inline int start_python(const char* name, char** arguments) {
    std::string interpreter = program_behind_us(name);
    if (interpreter.empty() && strcmp(name, "python") == 0) interpreter = program_behind_us("python3");
    if (interpreter.empty()) {
        fprintf(stderr, "%s: not found in this sandbox\n", name);
        return 127;
    }
    std::vector<char*> all{interpreter.data()};
    char* launcher = getenv("PODIUM_LAUNCHER");
    int options = launcher == nullptr ? -1 : leading_options(arguments);
    if (options >= 0 && is_contestants(arguments + options + 1)) options = -1;
    for (int index = 1; arguments[index] != nullptr; ++index) {
        if (index == options + 1 && options >= 0) all.push_back(launcher);
        all.push_back(arguments[index]);
    }
    all.push_back(nullptr);
    execv(interpreter.c_str(), all.data());
    perror(interpreter.c_str());
    return 126;
}
