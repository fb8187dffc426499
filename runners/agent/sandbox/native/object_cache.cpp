#include "object_cache.h"

#include "files.h"
#include "nvcc_arguments.h"

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <sys/stat.h>

constexpr char kCacheWorkspace[] = "/workspace";
constexpr size_t kMostFiles = 2000, kMostBytes = 32u << 20, kLongestList = 64u << 10;
constexpr char kPlain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._/+-";

static void set(const char* name, const std::string& value) { setenv(name, value.c_str(), 1); }

// Empty where there is no such file.
static std::string canonical(const std::string& path) {
    char place[PATH_MAX];
    return realpath(path.c_str(), place) == nullptr ? "" : place;
}

// The regular files below; false where a symbolic link lies among them, or too many, or not all can be looked at.
static bool find_files(const std::string& folder, std::vector<std::string>& places) {
    std::vector<std::string> names;
    if (!list_folder(folder, names)) return false;
    for (const std::string& name : names) {
        const std::string place = folder + "/" + name;
        struct stat facts{};
        if (lstat(place.c_str(), &facts) != 0 || S_ISLNK(facts.st_mode) || places.size() > kMostFiles) return false;
        if (S_ISREG(facts.st_mode)) places.push_back(place);
        if (S_ISDIR(facts.st_mode) && !find_files(place, places)) return false;
    }
    return true;
}

ObjectCache::ObjectCache()
    : folder_(setting("PODIUM_OBJECT_CACHE")), solution_(split(setting("PODIUM_SOLUTION_FILES"), ":")) {}

bool ObjectCache::serves(const std::string& source) {
    const std::string place = canonical(source);
    if (!starts_with(place, kCacheWorkspace) || is_solution(place)) return false;
    if (!surveyed_) survey();
    return sound_;
}

void ObjectCache::set_environment() const {
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

bool ObjectCache::is_solution(const std::string& place) const {
    return std::any_of(solution_.begin(), solution_.end(),
                       [&](const std::string& path) { return place == std::string(kCacheWorkspace) + "/" + path; });
}

// Looks at every file of the workspace once; afterwards `sound_` says whether no include may lead to the solution.
void ObjectCache::survey() {
    surveyed_ = true;
    std::vector<std::string> places;
    if (!find_files(kCacheWorkspace, places)) return;
    std::sort(places.begin(), places.end());
    sound_ = std::all_of(places.begin(), places.end(), [&](auto& place) { return is_solution(place) || add(place); });
    sound_ = sound_ && names_.size() < kLongestList;
}

bool ObjectCache::add(const std::string& place) {
    if (place.find_first_not_of(kPlain) != std::string::npos) return false;
    const std::string text = read_file(place, kMostBytes);
    bytes_ += text.size();
    if (starts_with(text, "\177ELF") || starts_with(text, "!<arch>")) return true;  // made by this build, and no source
    names_ += place + "\n";
    files_ += (files_.empty() ? "" : ":") + place;
    return bytes_ < kMostBytes && !reaches_solution(text);
}

bool ObjectCache::reaches_solution(const std::string& text) const {
    for (const std::string& line : split(text, "\n"))
        if (line.find("include") != std::string::npos && may_include_solution(line)) return true;
    return false;
}

// A line that includes by a macro may include anything.
bool ObjectCache::may_include_solution(const std::string& line) const {
    size_t hash = line.find_first_not_of(" \t");
    if (hash == std::string::npos || line[hash] != '#') return false;
    size_t directive = line.find_first_not_of(" \t", hash + 1);
    if (line.compare(directive, 7, "include") == 0) {
        size_t target = line.find_first_not_of(" \t", directive + 7);
        if (target == std::string::npos || (line[target] != '"' && line[target] != '<')) return true;
    }
    return std::any_of(solution_.begin(), solution_.end(), [&](const std::string& path) {
        return line.find(path.substr(path.rfind('/') + 1)) != std::string::npos;
    });
}
