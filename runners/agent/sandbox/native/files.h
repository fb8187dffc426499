// Settings, small files and folders, without the standard streams: those would take most of the compiler's time.
#pragma once

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <dirent.h>
#include <fcntl.h>
#include <string>
#include <unistd.h>
#include <vector>

inline std::string setting(const char* name) {
    const char* value = getenv(name);
    return value == nullptr ? "" : value;
}

constexpr size_t kSmallFileBytes = 4u << 20;

// The file from its beginning, not much longer than `most_bytes`; empty where it cannot be read.
inline std::string read_file(const std::string& path, size_t most_bytes) {
    std::string text;
    int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) return text;
    char block[4096];
    for (ssize_t got; text.size() < most_bytes && (got = read(file, block, sizeof block)) > 0;)
        text.append(block, static_cast<size_t>(got));
    close(file);
    return text;
}

inline std::string read_small_file(const std::string& path) { return read_file(path, kSmallFileBytes); }

// What a folder holds, `.` and `..` left out; false where not all of it could be read.
inline bool list_folder(const std::string& folder, std::vector<std::string>& names) {
    DIR* opened = opendir(folder.c_str());
    if (opened == nullptr) return false;
    errno = 0;
    while (dirent* entry = readdir(opened)) {
        std::string name = entry->d_name;
        if (name != "." && name != "..") names.push_back(name);
    }
    const bool whole = errno == 0;
    closedir(opened);
    return whole;
}

// The parts between any of `separators`, empty ones left out.
inline std::vector<std::string> split(const std::string& text, const char* separators) {
    std::vector<std::string> parts;
    for (size_t at = 0; (at = text.find_first_not_of(separators, at)) != std::string::npos;) {
        size_t end = std::min(text.find_first_of(separators, at), text.size());
        parts.push_back(text.substr(at, end - at));
        at = end;
    }
    return parts;
}
