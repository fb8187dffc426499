// Makes names that come from programs valid in JSON.
#pragma once

#include <string>
#include <string_view>

namespace podium {

// `raw`, cut to a maximum length, with U+FFFD instead of every byte that is not valid UTF-8.
std::string clean(std::string_view raw);

// The same for a wide string. `raw` may be null.
std::string narrow(const wchar_t* raw);

// `text` as a JSON string, quoted and escaped. `text` must be clean.
std::string quoted(std::string_view text);

// A kernel's demangled name without its parameters: cut at the first `(` that does not open `(anonymous namespace)`.
std::string kernel_name(const std::string& mangled);

}  // namespace podium
