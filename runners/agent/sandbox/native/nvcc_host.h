// How much the host compiler behind nvcc, gcc, may allocate before it first looks for what it can free again.
//
// By its default, 128 MiB, it does that over and over in sources that instantiate many templates: a quarter of the time
// that one with cudnn_frontend.h takes. What it makes is the same, byte for byte. Beyond that heap it looks whenever half
// as much again is filled, not twice as much, so that no source needs more memory at its height than it would have.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "nvcc_arguments.h"

inline bool names_host_compiler(const std::string& word) {
    return word.rfind("-ccbin", 0) == 0 || word.rfind("--compiler-bindir", 0) == 0;
}

// `kibibytes` as gcc counts it; empty where nothing shall be added. Another host compiler may not know the option.
inline std::vector<std::string> with_host_heap(std::vector<std::string> arguments, const std::string& kibibytes) {
    const bool another =
        !setting("NVCC_CCBIN").empty() || std::any_of(arguments.begin(), arguments.end(), names_host_compiler);
    if (kibibytes.empty() || another || arguments.empty()) return arguments;
    std::vector<std::string> all{"-Xcompiler", "--param=ggc-min-heapsize=" + kibibytes, "-Xcompiler",
                                 "--param=ggc-min-expand=50"};
    all.insert(all.end(), std::make_move_iterator(arguments.begin()), std::make_move_iterator(arguments.end()));
    return all;
}
