// The harness of a textbook task: draws inputs, lets the contestant's process compute, and judges what comes back.
//
// The solution is no part of this process. If it ends early, crashes or answers nonsense, the tests fail.
#pragma once

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/wait.h>

#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "channel.h"

namespace textbook {

struct Failure : std::runtime_error {
    using std::runtime_error::runtime_error;
};

[[noreturn]] __attribute__((format(printf, 1, 2))) inline void fail(const char* format, ...) {
    char text[400];
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    throw Failure(text);
}

// splitmix64.
class Random {
  public:
    explicit Random(std::uint64_t seed) : state_(seed) {}

    std::uint64_t next() {
        std::uint64_t mixed = (state_ += 0x9e3779b97f4a7c15u);
        mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9u;
        mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebu;
        return mixed ^ (mixed >> 31);
    }

    // In [low, high]; uniform enough for test data.
    int between(int low, int high) {
        const auto range = static_cast<std::uint64_t>(std::int64_t{high} - low) + 1;
        return static_cast<int>(low + static_cast<std::int64_t>(next() % range));
    }

    // In [low, high); 24 random bits.
    float uniform(float low, float high) { return low + (high - low) * (static_cast<float>(next() >> 40) * 0x1p-24f); }

    std::vector<float> floats(std::size_t size, float low, float high) {
        std::vector<float> values(size);
        for (float& value : values) value = uniform(low, high);
        return values;
    }

    std::vector<int> integers(std::size_t size, int low, int high) {
        std::vector<int> values(size);
        for (int& value : values) value = between(low, high);
        return values;
    }

    template <class T>
    void fill(std::vector<T>& values) {
        static_assert(std::is_trivially_copyable_v<T>);
        auto* bytes = reinterpret_cast<unsigned char*>(values.data());
        for (std::size_t i = 0; i < values.size() * sizeof(T); ++i) bytes[i] = static_cast<unsigned char>(next() >> 56);
    }

    // What an output holds before the call: NaN in floating point, random bits else.
    template <class T>
    std::vector<T> garbage(std::size_t size) {
        std::vector<T> values(size);
        if constexpr (std::is_floating_point_v<T>) {
            values.assign(size, std::numeric_limits<T>::quiet_NaN());
        } else {
            fill(values);
        }
        return values;
    }

  private:
    std::uint64_t state_;
};

// `./contestant`, which holds the solution.
class Contestant {
  public:
    Contestant() {
        int request[2], reply[2];
        if (pipe(request) != 0 || pipe(reply) != 0) throw std::runtime_error("no pipe");
        std::signal(SIGPIPE, SIG_IGN);
        process_ = fork();
        if (process_ < 0) throw std::runtime_error("no process");
        if (process_ == 0) become_contestant(request, reply);
        close(request[0]);
        close(reply[1]);
        to_ = request[1];
        from_ = reply[0];
    }

    // Fails if the solution fails or has ended its process.
    Blocks call(const Blocks& request) {
        Blocks reply;
        if (!send(to_, request) || !receive(from_, reply) || reply.empty()) fail("the solution's process has ended");
        const std::string error(reply[0].begin(), reply[0].end());
        if (!error.empty()) fail("%.300s", error.c_str());
        reply.erase(reply.begin());
        return reply;
    }

    // Whether it ends well once there are no more calls.
    bool ends_well() {
        close(to_);
        int status = 0;
        return waitpid(process_, &status, 0) == process_ && status == 0;
    }

  private:
    // The pipes move out of the way first, because they may have the very numbers that they are to get.
    [[noreturn]] static void become_contestant(const int* request, const int* reply) {
        constexpr int out_of_the_way = 20;
        const int in = fcntl(request[0], F_DUPFD, out_of_the_way), out = fcntl(reply[1], F_DUPFD, out_of_the_way);
        for (const int fd : {request[0], request[1], reply[0], reply[1]}) close(fd);
        dup2(in, request_fd);
        dup2(out, reply_fd);
        close(in);
        close(out);
        dup2(STDERR_FILENO, STDOUT_FILENO);  // the harness alone writes to standard output
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        execl("./contestant", "./contestant", static_cast<char*>(nullptr));
        _exit(127);
    }

    pid_t process_ = -1;
    int to_ = -1;
    int from_ = -1;
};

template <class T>
struct Input {
    const char* name;
    const std::vector<T>& values;
};

template <class T>
struct Output {
    const char* name;
    std::vector<T>& values;
};

// An array that a call must leave as it is.
template <class T>
Input<T> in(const char* name, const std::vector<T>& values) {
    return {name, values};
}

// An array that a call may change. It starts with the vector's values and ends up in the vector.
template <class T>
Output<T> out(const char* name, std::vector<T>& values) {
    return {name, values};
}

// Runs tests and counts them. The seed comes from the operating system, or from the command line to repeat a run.
class Suite {
  public:
    Suite(int argc, char** argv) : seed_(argc > 1 ? std::strtoull(argv[1], nullptr, 10) : fresh_seed()), guards_(seed_) {
        if (prctl(PR_SET_DUMPABLE, 0) != 0) throw std::runtime_error("the harness cannot protect its memory");
        std::printf("seed %llu\n", static_cast<unsigned long long>(seed_));
        std::fflush(stdout);
    }

    // `body(random)` throws Failure if the test fails.
    template <class Body>
    void test(const std::string& name, Body body) {
        Random random(seed_ + 0x1000003 * ++total_);
        try {
            body(random);
            ++passed_;
        } catch (const Failure& failure) {
            constexpr int most_shown = 10;
            if (total_ - passed_ <= most_shown) std::fprintf(stderr, "FAILED %s: %s\n", name.c_str(), failure.what());
        }
    }

    // Calls the solution with arrays (`in`, `out`) and numbers, whose types must be those of the function's parameters.
    template <class... Arguments>
    void call(Arguments... arguments) {
        const Blocks request{encoded(arguments)...};
        const Blocks reply = contestant_.call(request);
        constexpr std::size_t arrays = (0 + ... + (std::is_arithmetic_v<Arguments> ? 0 : 1));
        if (reply.size() != arrays) fail("the solution's process answered nonsense");
        std::size_t argument = 0, array = 0;
        (take(arguments, request[argument++], reply, array), ...);
    }

    // The exit code.
    int end() {
        test("end", [this](Random&) {
            if (!contestant_.ends_well()) fail("the solution's process did not end well");
        });
        prctl(PR_SET_DUMPABLE, 1);  // from here on an observer, such as Podium's witness, may see how this process ends
        std::printf("passed %d / %d\n", passed_, total_);
        return total_ > 1 && passed_ == total_ ? EXIT_SUCCESS : EXIT_FAILURE;
    }

  private:
    static std::uint64_t fresh_seed() {
        std::uint64_t seed = 0;
        if (getentropy(&seed, sizeof seed) != 0) throw std::runtime_error("the system gave no entropy");
        return seed;
    }

    template <class T>
    Block guarded(const std::vector<T>& values) {
        static_assert(std::is_trivially_copyable_v<T>);
        Block block(2 * guard_bytes);
        guards_.fill(block);
        const auto* bytes = reinterpret_cast<const unsigned char*>(values.data());
        block.insert(block.begin() + guard_bytes, bytes, bytes + values.size() * sizeof(T));
        return block;
    }

    template <class T>
    Block encoded(const Input<T>& input) {
        return guarded(input.values);
    }

    template <class T>
    Block encoded(const Output<T>& output) {
        return guarded(output.values);
    }

    template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>>
    Block encoded(T number) {
        Block block(sizeof number);
        std::memcpy(block.data(), &number, sizeof number);
        return block;
    }

    static void check_guards(const char* name, const Block& sent, const Block& got) {
        if (got.size() != sent.size()) fail("the solution's process answered nonsense");
        const std::size_t end = sent.size() - guard_bytes;
        if (std::memcmp(got.data(), sent.data(), guard_bytes) != 0) fail("something wrote before the start of %s", name);
        if (std::memcmp(&got[end], &sent[end], guard_bytes) != 0) fail("something wrote behind the end of %s", name);
    }

    template <class T>
    static void take(const Input<T>& input, const Block& sent, const Blocks& reply, std::size_t& array) {
        const Block& got = reply[array++];
        check_guards(input.name, sent, got);
        if (got != sent) fail("%s was changed", input.name);
    }

    template <class T>
    static void take(Output<T>& output, const Block& sent, const Blocks& reply, std::size_t& array) {
        const Block& got = reply[array++];
        check_guards(output.name, sent, got);
        if (!output.values.empty()) {
            std::memcpy(output.values.data(), &got[guard_bytes], output.values.size() * sizeof(T));
        }
    }

    template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>>
    static void take(T, const Block&, const Blocks&, std::size_t&) {}

    std::uint64_t seed_;
    Random guards_;
    Contestant contestant_;
    int total_ = 0;
    int passed_ = 0;
};

// Every element equals the expected one; NaN equals nothing.
template <class T>
void expect_equal(const char* name, const std::vector<T>& got, const std::vector<T>& expected) {
    if (got.size() != expected.size()) fail("%s: %zu elements, not %zu", name, got.size(), expected.size());
    for (std::size_t i = 0; i < got.size(); ++i) {
        if (!(got[i] == expected[i])) {
            const std::string is = std::to_string(got[i]), should_be = std::to_string(expected[i]);
            fail("%s[%zu] is %s, not %s", name, i, is.c_str(), should_be.c_str());
        }
    }
}

// |got - expected| <= absolute + relative * |expected| for every element; NaN is close to nothing.
inline void expect_close(const char* name, const std::vector<float>& got, const std::vector<double>& expected,
                         double relative, double absolute) {
    if (got.size() != expected.size()) fail("%s: %zu elements, not %zu", name, got.size(), expected.size());
    for (std::size_t i = 0; i < got.size(); ++i) {
        const double size = expected[i] < 0 ? -expected[i] : expected[i];
        const double difference = got[i] > expected[i] ? got[i] - expected[i] : expected[i] - got[i];
        if (!(difference <= absolute + relative * size)) fail("%s[%zu] is %.9g, not %.9g", name, i, got[i], expected[i]);
    }
}

}  // namespace textbook
