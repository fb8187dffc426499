// Objects of the problem's own sources, kept by ccache between builds of different solutions to the same problem.
//
// A source may come from there only where no file of the solution can reach it, and what is kept holds nothing of a
// solution. ccache alone does not know that: it sees one of nvcc's two preprocessing passes, and misses a header that
// was not there before. So every other file of the workspace goes into its hash, by name and by content.
#pragma once

#include "nvcc_target.h"

#include <filesystem>
#include <sstream>

constexpr char kCacheWorkspace[] = "/workspace";
constexpr size_t kMostFiles = 2000, kMostBytes = 32u << 20, kLongestList = 64u << 10;

class ObjectCache {
  public:
    ObjectCache() : folder_(setting("PODIUM_OBJECT_CACHE")) {
        std::istringstream list(setting("PODIUM_SOLUTION_FILES"));
        for (std::string path; std::getline(list, path, ':');) solution_.push_back(path);
    }

    bool present() const { return !folder_.empty(); }

    // Whether this source's object may be looked up, and kept where this build may write.
    bool serves(const std::string& source) {
        std::error_code error;
        std::string place = std::filesystem::canonical(source, error).string();
        if (error || !starts_with(place, kCacheWorkspace) || is_solution(place)) return false;
        if (!surveyed_) survey();
        return sound_;
    }

    // To be called in the process that becomes ccache.
    void set_environment() const {
        set("CCACHE_DIR", folder_);
        set("CCACHE_CONFIGPATH", "/dev/null");
        set("CCACHE_TEMPDIR", "/tmp");
        set("CCACHE_UMASK", "000");  // every slot of a node may be another user
        set("CCACHE_MAXSIZE", "256M");
        // Nothing changes these files while the compiler reads them.
        set("CCACHE_SLOPPINESS", "include_file_mtime,include_file_ctime");
        set("CCACHE_NAMESPACE", names_);
        set("CCACHE_EXTRAFILES", files_);
        if (access(folder_.c_str(), W_OK) != 0) set("CCACHE_READONLY", "1");
    }

  private:
    static void set(const char* name, const std::string& value) { setenv(name, value.c_str(), 1); }

    bool is_solution(const std::string& place) const {
        return std::any_of(solution_.begin(), solution_.end(), [&](const std::string& path) {
            return place == std::string(kCacheWorkspace) + "/" + path;
        });
    }

    // Looks at every file of the workspace once; afterwards `sound_` says whether no include may lead to the solution.
    void survey() {
        namespace fs = std::filesystem;
        surveyed_ = true;
        std::vector<std::string> places;
        std::error_code error;
        for (fs::recursive_directory_iterator at(kCacheWorkspace, error), end; !error && at != end; at.increment(error)) {
            if (at->is_symlink() || places.size() > kMostFiles) return;
            if (at->is_regular_file()) places.push_back(at->path().string());
        }
        if (error) return;
        std::sort(places.begin(), places.end());
        sound_ = std::all_of(places.begin(), places.end(), [&](auto& place) { return is_solution(place) || add(place); });
        sound_ = sound_ && names_.size() < kLongestList;
    }

    bool add(const std::string& place) {
        if (place.find_first_not_of(kPlain) != std::string::npos) return false;
        std::ifstream file(place, std::ios::binary);
        std::string text(std::istreambuf_iterator<char>(file), {});
        bytes_ += text.size();
        if (starts_with(text, "\177ELF") || starts_with(text, "!<arch>")) return true;  // made by this build, and no source
        names_ += place + "\n";
        files_ += (files_.empty() ? "" : ":") + place;
        return bytes_ < kMostBytes && !reaches_solution(text);
    }

    bool reaches_solution(const std::string& text) const {
        std::istringstream lines(text);
        for (std::string line; std::getline(lines, line);)
            if (line.find("include") != std::string::npos && may_include_solution(line)) return true;
        return false;
    }

    // A line that includes by a macro may include anything.
    bool may_include_solution(const std::string& line) const {
        size_t hash = line.find_first_not_of(" \t");
        if (hash == std::string::npos || line[hash] != '#') return false;
        size_t directive = line.find_first_not_of(" \t", hash + 1);
        if (line.compare(directive, 7, "include") == 0) {
            size_t target = line.find_first_not_of(" \t", directive + 7);
            if (target == std::string::npos || (line[target] != '"' && line[target] != '<')) return true;
        }
        return std::any_of(solution_.begin(), solution_.end(), [&](const std::string& path) {
            return line.find(std::filesystem::path(path).filename().string()) != std::string::npos;
        });
    }

    static constexpr char kPlain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._/+-";
    std::string folder_;
    std::vector<std::string> solution_;
    std::string names_, files_;
    size_t bytes_ = 0;
    bool surveyed_ = false, sound_ = false;
};
