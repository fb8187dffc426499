// Names as they come from programs, made fit for JSON.
#pragma once

#include <string>
#include <string_view>

namespace podium {

// `raw` cut to a bounded length, with U+FFFD for every byte that is no UTF-8.
std::string clean(std::string_view raw);

// The same of a wide string. `raw` may be null.
std::string narrow(const wchar_t* raw);

// `text` (clean) between quotes, escaped as JSON wants it.
std::string quoted(std::string_view text);

// A kernel's name without its parameters: the readable name up to the first `(` that opens no anonymous namespace.
std::string kernel_name(const std::string& mangled);

}  // namespace podium
