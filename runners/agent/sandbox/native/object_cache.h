// Objects of the problem's own sources, kept by ccache between builds of different solutions to the same problem.
//
// A source may come from there only where no file of the solution can reach it, and what is kept holds nothing of a
// solution. ccache alone does not know that: it sees one of nvcc's two preprocessing passes, and misses a header that
// was not there before. So every other file of the workspace goes into its hash, by name and by content.
#pragma once

#include <string>
#include <vector>

class ObjectCache {
public:
    ObjectCache();

    bool present() const { return !folder_.empty(); }

    // Whether this source's object may be looked up, and kept where this build may write.
    bool serves(const std::string& source);

    // To be called in the process that becomes ccache.
    void set_environment() const;

private:
    bool is_solution(const std::string& place) const;
    void survey();
    bool add(const std::string& place);
    bool reaches_solution(const std::string& text) const;
    bool may_include_solution(const std::string& line) const;

    std::string folder_;
    std::vector<std::string> solution_;
    std::string names_, files_;
    size_t bytes_ = 0;
    bool surveyed_ = false, sound_ = false;
};
