// CUDA's functions are recognised by parts of their names, so that variants of later versions are included.
#pragma once

#include <cupti.h>

#include <initializer_list>
#include <string_view>

namespace podium {

constexpr CUpti_CallbackId MOST_CALLBACKS = 4096;

inline bool begins(std::string_view name, std::string_view with) { return name.compare(0, with.size(), with) == 0; }

inline bool begins_with_any(std::string_view name, std::initializer_list<const char*> beginnings) {
    for (const char* beginning : beginnings)
        if (begins(name, beginning)) return true;
    return false;
}

inline bool contains(std::string_view name, std::string_view part) { return name.find(part) != std::string_view::npos; }

}  // namespace podium
