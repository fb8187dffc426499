// The contestant's process of a textbook task: takes calls from the harness, makes them, and sends the arrays back.
#pragma once

#include <cstdlib>
#include <cstring>
#include <exception>
#include <string>
#include <tuple>
#include <utility>

#include "channel.h"
#include "memory.h"

namespace textbook {

// A number, as one argument of a call.
template <class T>
class Argument {
  public:
    explicit Argument(const Block& block) {
        if (block.size() == sizeof value_) std::memcpy(&value_, block.data(), sizeof value_);
    }

    T get() const { return value_; }

    void append_to(Blocks&) const {}

  private:
    T value_{};
};

// An array between its guards, as one argument of a call.
template <class T>
class Argument<T*> {
  public:
    explicit Argument(const Block& block) : memory_(block) {}

    T* get() const { return reinterpret_cast<T*>(memory_.start() + guard_bytes); }

    void append_to(Blocks& blocks) const { blocks.push_back(memory_.content()); }

  private:
    Memory memory_;
};

template <class... Parameters, std::size_t... places>
Blocks answer(void (*function)(Parameters...), const Blocks& request, std::index_sequence<places...>) {
    std::tuple<Argument<Parameters>...> arguments(request[places]...);
    function(std::get<places>(arguments).get()...);
    finish();
    Blocks reply{Block()};  // no error
    (std::get<places>(arguments).append_to(reply), ...);
    return reply;
}

// Calls `function` as often as the harness asks, each time with arrays of its own. Returns the exit code.
template <class... Parameters>
int serve(void (*function)(Parameters...)) {
    Blocks request;
    while (receive(request_fd, request) && request.size() == sizeof...(Parameters)) {
        Blocks reply;
        try {
            reply = answer(function, request, std::index_sequence_for<Parameters...>());
        } catch (const std::exception& error) {
            const std::string why = error.what();
            reply = {Block(why.begin(), why.end())};
        }
        if (!send(reply_fd, reply)) return EXIT_FAILURE;
    }
    return EXIT_SUCCESS;
}

}  // namespace textbook
