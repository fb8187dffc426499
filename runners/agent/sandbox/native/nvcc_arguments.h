// What an nvcc command line says, where all of it is understood.
#pragma once

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

enum class Part { option, link_option, output, source, object };

struct Word {
    std::string text;
    Part part;
};

struct NvccCall {
    std::vector<Word> words;
    bool compiles_only = false;  // -c and its like: no link follows

    size_t count(Part part) const {
        return static_cast<size_t>(
            std::count_if(words.begin(), words.end(), [&](auto& word) { return word.part == part; }));
    }
};

// Options without a value that mean the same to one source as to many.
constexpr const char* kSwitches[] = {
    "-g",
    "--debug",
    "-G",
    "--device-debug",
    "-lineinfo",
    "--generate-line-info",
    "-w",
    "--disable-warnings",
    "-use_fast_math",
    "--use_fast_math",
    "-extended-lambda",
    "--extended-lambda",
    "-expt-extended-lambda",
    "--expt-extended-lambda",
    "-expt-relaxed-constexpr",
    "--expt-relaxed-constexpr",
    "-restrict",
    "--restrict",
    "-m64",
    "--m64",
    "-res-usage",
    "--resource-usage",
    "-extra-device-vectorization",
    "--extra-device-vectorization",
    "-err-no",
    "--display-error-number",
    "-no-err-no",
    "--no-display-error-number",
    "-allow-unsupported-compiler",
    "--allow-unsupported-compiler",
    "-shared",
    "--shared",
};
// Options whose value follows a `=` or is the next word.
constexpr const char* kValued[] = {
    "-std",
    "--std",
    "-arch",
    "--gpu-architecture",
    "-code",
    "--gpu-code",
    "-gencode",
    "--generate-code",
    "-Xcompiler",
    "--compiler-options",
    "-Xptxas",
    "--ptxas-options",
    "-maxrregcount",
    "--maxrregcount",
    "-rdc",
    "--relocatable-device-code",
    "-ftz",
    "--ftz",
    "-prec-div",
    "--prec-div",
    "-prec-sqrt",
    "--prec-sqrt",
    "-fmad",
    "--fmad",
    "-default-stream",
    "--default-stream",
    "-cudart",
    "--cudart",
    "-cudadevrt",
    "--cudadevrt",
    "-include",
    "--pre-include",
    "-isystem",
    "--system-include",
    "-diag-suppress",
    "--diag-suppress",
    "-diag-error",
    "--diag-error",
    "-diag-warn",
    "--diag-warn",
    "-ccbin",
    "--compiler-bindir",
    "-t",
    "--threads",
    "--include-path",
    "--define-macro",
    "--undefine-macro",
    "--optimize",
    "-m",
    "--machine",
};
constexpr const char* kValuedForLinking[] = {
    "-Xlinker", "--linker-options", "-Xnvlink", "--nvlink-options", "--library", "--library-path",
};
// Words that begin like `-l NAME` and are something else.
constexpr const char* kNotLibraries[] = {"-lib", "-lto", "-ldir", "-link"};

inline bool starts_with(const std::string& text, const char* start) {
    return text.compare(0, strlen(start), start) == 0;
}

inline bool ends_with(const std::string& text, const char* end) {
    size_t size = strlen(end);
    return text.size() >= size && text.compare(text.size() - size, size, end) == 0;
}

template <size_t N>
bool is_one_of(const std::string& text, const char* const (&list)[N]) {
    return std::any_of(std::begin(list), std::end(list), [&](const char* one) { return text == one; });
}

template <size_t N>
bool ends_with_one_of(const std::string& text, const char* const (&list)[N]) {
    return std::any_of(std::begin(list), std::end(list), [&](const char* one) { return ends_with(text, one); });
}

constexpr const char* kSources[] = {".cu", ".cpp", ".cc", ".cxx", ".c"};
constexpr const char* kObjects[] = {".o", ".a", ".so"};

class NvccReader {
public:
    explicit NvccReader(const std::vector<std::string>& arguments) : arguments_(arguments) {}

    // Nothing where any word is not understood.
    std::optional<NvccCall> read() {
        while (at_ < arguments_.size())
            if (!(arguments_[at_][0] == '-' ? read_option() : read_input())) return std::nullopt;
        return call_;
    }

private:
    bool take(size_t words, Part part) {
        if (at_ + words > arguments_.size()) return false;
        for (size_t end = at_ + words; at_ < end; ++at_) call_.words.push_back({arguments_[at_], part});
        return true;
    }

    bool read_input() {
        const std::string& word = arguments_[at_];
        if (ends_with_one_of(word, kSources)) return take(1, Part::source);
        return ends_with_one_of(word, kObjects) && take(1, Part::object);
    }

    bool read_option() {
        const std::string& word = arguments_[at_];
        std::string name = word.substr(0, word.find('='));
        size_t words = name.size() < word.size() ? 1 : 2;
        if (is_one_of(word, {"-c", "--compile", "-dc", "--device-c"}))
            return call_.compiles_only = take(1, Part::option);
        if (is_one_of(word, kSwitches)) return take(1, Part::option);
        if (is_one_of(name, {"-o", "--output-file"})) return words == 2 && take(2, Part::output);
        if (is_one_of(name, kValuedForLinking)) return take(words, Part::link_option);
        if (is_one_of(name, kValued)) return !hides_outputs(words) && take(words, Part::option);
        return read_joined();
    }

    // What the host compiler is told may make files of its own, whose names follow from the object's.
    bool hides_outputs(size_t words) const {
        const std::string& value = arguments_[std::min(at_ + words - 1, arguments_.size() - 1)];
        return value.find("-M") != std::string::npos || value.find("save-temps") != std::string::npos;
    }

    // -Ipath, -I path and their like.
    bool read_joined() {
        const std::string& word = arguments_[at_];
        size_t words = word.size() == 2 ? 2 : 1;
        if (is_one_of(word, kNotLibraries) || starts_with(word, "-ldir")) return false;
        if (starts_with(word, "-L") || starts_with(word, "-l")) return take(words, Part::link_option);
        bool known =
            starts_with(word, "-I") || starts_with(word, "-D") || starts_with(word, "-U") || starts_with(word, "-O");
        return known && take(words, Part::option);
    }

    const std::vector<std::string>& arguments_;
    size_t at_ = 0;
    NvccCall call_;
};
