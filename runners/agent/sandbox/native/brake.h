// Stops and continues the whole command at the word of a judge, who holds the other end of a socket.
//
//   's'  stop every process; answered once all of them are seen stopped
//   'v'  look again; answered with what is seen now. The next order is then expected within kSpinMs.
//   'g'  continue every process; not answered
//
// An answer is a BrakeAnswer. A process can be continued by a timer of its own, so the judge compares `ran_ns` of two
// answers: it is the time for which the command's threads have run so far, and it stands still while they do.
//
// From a start right after a look ('v', 'g') to the next stop the command is timed. How long it was let go then, and
// how long its threads waited for a core meanwhile, is kept for the supervisor's report.
#pragma once

#include "files.h"
#include "host_load.h"

#include <algorithm>
#include <cctype>
#include <csignal>
#include <cstdint>
#include <ctime>
#include <map>
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

    // Of all timed goes so far, in milliseconds.
    double timed_ms() const { return timed_ms_; }
    double lost_ms() const { return lost_ms_; }

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
    static constexpr double kStartMs = 0.1;  // so long threads wait for a core when they are continued, beside nothing

    void obey(char order) {
        if (order == 's') {
            const BrakeAnswer seen = stop();
            answer(seen);
            end_go(seen);
        } else if (order == 'v') {
            look_and_await_the_start();
        } else if (order == 'g' && is_first_) {
            kill(-1, SIGCONT);
            if (is_timed_) let_go_ns_ = now_ns();
        }
    }

    // `waited_ns_` holds what the last look of the stop has seen.
    void end_go(const BrakeAnswer& seen) {
        if (let_go_ns_ != 0 && seen.is_stopped) {
            const double wall_ms = static_cast<double>(now_ns() - let_go_ns_) / 1e6;
            CoreWaits waits;
            for (const auto& [task, waited_ns] : waited_ns_) {
                const auto before = waited_before_ns_.find(task);
                const uint64_t earlier_ns = before == waited_before_ns_.end() ? 0 : before->second;
                waits.add(static_cast<double>(waited_ns - earlier_ns) / 1e6);
            }
            timed_ms_ += wall_ms;
            const double lost_ms = waits.lost_ms(wall_ms, static_cast<double>(seen.ran_ns - ran_before_ns_) / 1e6);
            lost_ms_ += std::max(0.0, lost_ms - kStartMs);
        }
        let_go_ns_ = 0;
        is_timed_ = false;
    }

    BrakeAnswer stop() {
        BrakeAnswer seen{}, before{};
        if (!is_first_) return seen;
        for (int look = 0; look < kLooks; ++look) {
            kill(-1, SIGSTOP);  // again: a process may have been continued meanwhile
            seen = look_at_all();
            const bool stands_still = before.is_stopped && seen.ran_ns == before.ran_ns;
            if (seen.is_stopped && (is_certain_ || stands_still)) return seen;
            before = seen;
            usleep(kLookUs);
        }
        seen.is_stopped = 0;
        return seen;
    }

    // The start's way from the judge to the command is timed, so it is waited for without sleeping.
    void look_and_await_the_start() {
        const BrakeAnswer seen = look_at_all();
        answer(seen);
        is_timed_ = true;
        waited_before_ns_.swap(waited_ns_);
        ran_before_ns_ = seen.ran_ns;
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

    BrakeAnswer look_at_all() {
        BrakeAnswer seen{1, 0, 0};
        is_certain_ = true;
        waited_ns_.clear();
        std::vector<std::string> processes, tasks;
        list_folder("/proc", processes);
        for (const std::string& process : processes) {
            if (!isdigit(static_cast<unsigned char>(process[0])) || process == "1") continue;  // 1 is this supervisor
            const std::string folder = "/proc/" + process + "/task";
            tasks.clear();
            list_folder(folder, tasks);
            for (const std::string& task : tasks) look_at(folder + "/" + task, std::atoi(task.c_str()), seen);
        }
        return seen;
    }

    void look_at(const std::string& task, pid_t id, BrakeAnswer& seen) {
        const std::string facts = read_small_file(task + "/stat");
        const size_t name_end = facts.rfind(')');
        if (name_end == std::string::npos || name_end + 2 >= facts.size()) return;  // it has just ended
        const char state = facts[name_end + 2];
        if (state == 'Z' || state == 'X') return;
        if (state != 'T' && state != 't') seen.is_stopped = 0;
        if (seen.is_stopped) {
            // A thread is called stopped just before it leaves its core. Reading `syscall` waits until it has left it.
            const std::string call = read_small_file(task + "/syscall");
            if (call.empty()) is_certain_ = false;  // unreadable where ptrace is forbidden
            if (call == "running\n") seen.is_stopped = 0;
        }
        ++seen.tasks;
        const std::string times = read_small_file(task + "/schedstat");
        char* after = nullptr;
        seen.ran_ns += strtoull(times.c_str(), &after, 10);
        waited_ns_[id] = strtoull(after, nullptr, 10);
    }

    int socket_;
    const bool is_first_;
    std::map<pid_t, uint64_t> waited_ns_, waited_before_ns_;  // by thread, at the last look and before the last start
    uint64_t ran_before_ns_ = 0, let_go_ns_ = 0;
    bool is_certain_ = false;  // the last look has seen of each thread whether it has left its core
    bool is_timed_ = false;    // the next start is that of a timed go
    double timed_ms_ = 0, lost_ms_ = 0;
};
