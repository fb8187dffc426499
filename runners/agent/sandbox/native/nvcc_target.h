// Which architecture nvcc compiles for: the track's, where the command line names none or asks for the GPU at hand.
#pragma once

#include "files.h"
#include "nvcc_arguments.h"

#include <algorithm>

constexpr const char* kArchitectureOptions[] = {
    "-arch", "--gpu-architecture", "-code", "--gpu-code", "-gencode", "--generate-code",
};

inline bool names_architecture(const std::string& word) {
    return is_one_of(word.substr(0, word.find('=')), kArchitectureOptions);
}

inline bool text_names_architecture(const std::string& text) {
    std::vector<std::string> words = split(text, " \t\n\v\f\r");
    return std::any_of(words.begin(), words.end(), names_architecture);
}

// The words of files named by -optf are options too.
inline bool options_file_names_architecture(const std::vector<std::string>& arguments, size_t at) {
    const std::string& word = arguments[at];
    if (!is_one_of(word.substr(0, word.find('=')), {"-optf", "--options-file"})) return false;
    size_t equals = word.find('=');
    std::string path = equals != std::string::npos ? word.substr(equals + 1)
                       : at + 1 < arguments.size() ? arguments[at + 1]
                                                   : "";
    return text_names_architecture(read_small_file(path));
}

inline bool architecture_is_named(const std::vector<std::string>& arguments) {
    for (size_t at = 0; at < arguments.size(); ++at)
        if (names_architecture(arguments[at]) || options_file_names_architecture(arguments, at)) return true;
    return text_names_architecture(setting("NVCC_PREPEND_FLAGS")) ||
           text_names_architecture(setting("NVCC_APPEND_FLAGS"));
}

// A sandbox that builds has no GPU: nvcc would warn of `native` and fall back to its own default.
inline void replace_native(std::vector<std::string>& arguments, const std::string& target) {
    for (size_t at = 0; at < arguments.size(); ++at) {
        for (const char* option : {"-arch", "--gpu-architecture"}) {
            if (arguments[at] == std::string(option) + "=native") arguments[at] = std::string(option) + "=" + target;
            bool separate = arguments[at] == option && at + 1 < arguments.size() && arguments[at + 1] == "native";
            if (separate) arguments[at + 1] = target;
        }
    }
}

// `-arch=sm_90` is short for code of sm_90 and PTX of compute_90: what nvcc itself makes of `native` on such a GPU.
inline std::vector<std::string> with_target(std::vector<std::string> arguments, const std::string& target) {
    if (target.empty()) return arguments;
    replace_native(arguments, target);
    if (!architecture_is_named(arguments)) arguments.insert(arguments.begin(), "-arch=" + target);
    return arguments;
}
