#include "text.h"

#include <cxxabi.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace podium {
namespace {

constexpr std::size_t LONGEST_NAME = 1024;
constexpr char REPLACEMENT[] = "\xEF\xBF\xBD";

// The number of bytes of the first character, or 0 if it is not valid UTF-8.
std::size_t character_length(std::string_view text) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned lead = byte(0);
    const std::size_t length = lead < 0x80                   ? 1
                               : lead >= 0xC2 && lead < 0xE0 ? 2
                               : (lead & 0xF0) == 0xE0       ? 3
                               : lead >= 0xF0 && lead < 0xF5 ? 4
                                                             : 0;
    if (length == 0 || length > text.size()) return 0;
    for (std::size_t i = 1; i < length; ++i)
        if ((byte(i) & 0xC0) != 0x80) return 0;
    if (length < 3) return length;
    const unsigned second = byte(1);
    const bool overlong = (lead == 0xE0 && second < 0xA0) || (lead == 0xF0 && second < 0x90);
    const bool surrogate = lead == 0xED && second >= 0xA0;
    const bool beyond = lead == 0xF4 && second >= 0x90;
    return overlong || surrogate || beyond ? 0 : length;
}

void append_character(std::string& to, std::uint32_t point) {
    if (point > 0x10FFFF || (point >= 0xD800 && point < 0xE000)) {
        to += REPLACEMENT;
    } else if (point < 0x80) {
        to += static_cast<char>(point);
    } else if (point < 0x800) {
        to += static_cast<char>(0xC0 | point >> 6);
        to += static_cast<char>(0x80 | (point & 0x3F));
    } else if (point < 0x10000) {
        to += static_cast<char>(0xE0 | point >> 12);
        to += static_cast<char>(0x80 | (point >> 6 & 0x3F));
        to += static_cast<char>(0x80 | (point & 0x3F));
    } else {
        to += static_cast<char>(0xF0 | point >> 18);
        to += static_cast<char>(0x80 | (point >> 12 & 0x3F));
        to += static_cast<char>(0x80 | (point >> 6 & 0x3F));
        to += static_cast<char>(0x80 | (point & 0x3F));
    }
}

// Plain C names stay unchanged, because `f` would be demangled as the type float.
std::string demangled(const std::string& mangled) {
    if (mangled.compare(0, 2, "_Z") != 0) return mangled;
    int status = 0;
    char* readable = abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status);
    std::string name = status == 0 && readable ? readable : mangled;
    std::free(readable);
    return name;
}

}  // namespace

std::string clean(std::string_view raw) {
    std::string text;
    while (!raw.empty() && text.size() < LONGEST_NAME) {
        const std::size_t length = character_length(raw);
        if (length == 0) text += REPLACEMENT;
        else text.append(raw.substr(0, length));
        raw.remove_prefix(length == 0 ? 1 : length);
    }
    return text;
}

std::string narrow(const wchar_t* raw) {
    std::string text;
    for (; raw && *raw && text.size() < LONGEST_NAME; ++raw) append_character(text, static_cast<std::uint32_t>(*raw));
    return text;
}

std::string quoted(std::string_view text) {
    std::string json = "\"";
    for (const char character : text) {
        const auto code = static_cast<unsigned char>(character);
        if (character == '"' || character == '\\') {
            json += '\\';
            json += character;
        } else if (code < 0x20 || code == 0x7F) {
            char escape[8];
            std::snprintf(escape, sizeof escape, "\\u%04x", code);
            json += escape;
        } else {
            json += character;
        }
    }
    return json + '"';
}

std::string kernel_name(const std::string& mangled) {
    static constexpr std::string_view ANONYMOUS = "(anonymous namespace)";
    const std::string name = demangled(mangled);
    if (name == mangled) return clean(name);
    std::size_t paren = name.find('(');
    while (paren != std::string::npos && name.compare(paren, ANONYMOUS.size(), ANONYMOUS) == 0)
        paren = name.find('(', paren + ANONYMOUS.size());
    return clean(std::string_view(name).substr(0, paren));
}

}  // namespace podium
