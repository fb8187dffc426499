// Stops and continues the whole command at the word of a judge, who holds the other end of a socket.
//
//   's'  stop every process; answered once all of them are seen stopped
//   'v'  look again; answered with what is seen now. The next order is then expected within kSpinMs.
//   'g'  continue every process; not answered
//
// An answer is a BrakeAnswer. A process can be continued by a timer of its own, so the judge compares `ran_ns` of two
// answers: it is the time for which the command's threads have run so far, and it stands still while they do.
#pragma once

#include "files.h"

#include <cctype>
#include <csignal>
#include <cstdint>
#include <ctime>
#include <string>
#include <sys/socket.h>
#include <unistd.h>

struct BrakeAnswer {
    uint32_t is_stopped;
    uint32_t tasks;
    uint64_t ran_ns;
};

class Brake {
  public:
    // Only the first process of a namespace can tell the command's processes from all others.
    explicit Brake(int socket) : socket_(socket), is_first_(getpid() == 1) {}

    int socket() const { return socket_; }

    // Serves one order, if there is one. False once the judge has hung up.
    bool serve() {
        char order = 0;
        const ssize_t got = recv(socket_, &order, 1, MSG_DONTWAIT);
        if (got < 0) return errno == EAGAIN || errno == EINTR;
        if (got == 0) return false;
        obey(order);
        return true;
    }

  private:
    static constexpr int kLooks = 20000, kLookUs = 50, kSpinMs = 5;

    void obey(char order) {
        if (order == 's') answer(stop());
        else if (order == 'v') look_and_await_the_start();
        else if (order == 'g' && is_first_) kill(-1, SIGCONT);
    }

    BrakeAnswer stop() {
        BrakeAnswer seen{}, before{};
        if (!is_first_) return seen;
        for (int look = 0; look < kLooks; ++look) {
            kill(-1, SIGSTOP);  // again: a process may have been continued meanwhile
            seen = look_at_all();
            // A thread is called stopped just before it leaves its core: its time stands still at the second look.
            if (seen.is_stopped && before.is_stopped && seen.ran_ns == before.ran_ns) return seen;
            before = seen;
            usleep(kLookUs);
        }
        seen.is_stopped = 0;
        return seen;
    }

    // The start's way from the judge to the command is timed, so it is waited for without sleeping.
    void look_and_await_the_start() {
        answer(look_at_all());
        const uint64_t until_ns = now_ns() + kSpinMs * 1000000u;
        do {
            char order = 0;
            if (recv(socket_, &order, 1, MSG_DONTWAIT) == 1) return obey(order);
        } while (now_ns() < until_ns);
    }

    static uint64_t now_ns() {
        timespec now{};
        clock_gettime(CLOCK_MONOTONIC, &now);
        return static_cast<uint64_t>(now.tv_sec) * 1000000000u + static_cast<uint64_t>(now.tv_nsec);
    }

    void answer(const BrakeAnswer& seen) { send(socket_, &seen, sizeof seen, MSG_NOSIGNAL | MSG_DONTWAIT); }

    static BrakeAnswer look_at_all() {
        BrakeAnswer seen{1, 0, 0};
        std::vector<std::string> processes, tasks;
        list_folder("/proc", processes);
        for (const std::string& process : processes) {
            if (!isdigit(static_cast<unsigned char>(process[0])) || process == "1") continue;  // 1 is this supervisor
            const std::string folder = "/proc/" + process + "/task";
            tasks.clear();
            list_folder(folder, tasks);
            for (const std::string& task : tasks) look_at(folder + "/" + task, seen);
        }
        return seen;
    }

    static void look_at(const std::string& task, BrakeAnswer& seen) {
        const std::string facts = read_small_file(task + "/stat");
        const size_t name_end = facts.rfind(')');
        if (name_end == std::string::npos || name_end + 2 >= facts.size()) return;  // it has just ended
        const char state = facts[name_end + 2];
        if (state == 'Z' || state == 'X') return;
        if (state != 'T' && state != 't') seen.is_stopped = 0;
        ++seen.tasks;
        seen.ran_ns += strtoull(read_small_file(task + "/schedstat").c_str(), nullptr, 10);
    }

    int socket_;
    const bool is_first_;
};
