// podium-supervisor: the parent of the contestant's command inside every sandbox.
//
//   podium-supervisor supervise              orders on stdin, report on stdout after everything of the command is dead
//   podium-supervisor enter UID GID N FILE… M SOURCE… PROGRAM ARGUMENT…
//                                            join N control groups, stage M folders, drop to UID, exec the program
//   python… (by name)                        find the real interpreter on PATH and hand it the launcher
//   nvcc (by name)                           find the real nvcc on PATH; see nvcc_shim.h
#include "brake.h"
#include "channel.h"
#include "confine.h"
#include "files.h"
#include "host_load.h"
#include "nvcc_shim.h"
#include "orders.h"
#include "processor_time.h"
#include "python_shim.h"
#include "witness.h"

#include <algorithm>
#include <climits>
#include <csignal>
#include <ctime>
#include <grp.h>
#include <poll.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/time.h>
#include <sys/wait.h>

static double now_ms() {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

static void write_all(int file, const char* text, size_t size) {
    while (size > 0) {
        ssize_t sent = write(file, text, size);
        if (sent > 0) {
            text += sent;
            size -= static_cast<size_t>(sent);
        } else if (errno == EAGAIN) {  // the command may have made the shared pipe non-blocking
            pollfd ready{file, POLLOUT, 0};
            poll(&ready, 1, 100);
        } else if (errno != EINTR) {
            return;
        }
    }
}

// ---- the child -----------------------------------------------------------------------------------------------------

struct Started {
    double at_ms;
    int error;
};

constexpr int kGate = 3, kReport = 4, kChannel = 5;  // the child's descriptors

static std::vector<char*> pointers(std::vector<std::string>& texts) {
    std::vector<char*> list;
    for (std::string& text : texts) list.push_back(text.data());
    list.push_back(nullptr);
    return list;
}

static bool names(const std::string& entry, const char* variable) {
    return entry.compare(0, strlen(variable), variable) == 0 && entry[strlen(variable)] == '=';
}

// The toolkit of the nvcc on `path`, empty if there is none. The shim hides it from programs that look beside the nvcc
// they find, as the extensions of torch and tvm-ffi do. The nvcc found may be a link, or a script elsewhere.
static std::string cuda_home(const std::string& path) {
    const std::string nvcc = program_behind_us("nvcc", path);
    if (nvcc.empty()) return "";
    char real[PATH_MAX];
    for (std::string home :
         {nvcc, std::string(realpath(nvcc.c_str(), real) ? real : ""), std::string("/usr/local/cuda/bin/nvcc")}) {
        for (int level = 0; level < 2; ++level) home.resize(std::min(home.rfind('/'), home.size()));
        if (access((home + "/include/cuda_runtime.h").c_str(), R_OK) == 0) return home;
    }
    return "";
}

static std::vector<std::string> environment_for(const Orders& orders, int channel, int end_signal) {
    std::vector<std::string> all;
    if (orders.inherit_environment)
        for (char** entry = environ; *entry; ++entry) all.emplace_back(*entry);
    for (const std::string& entry : orders.environment) {
        std::string variable = entry.substr(0, entry.find('='));
        all.erase(std::remove_if(all.begin(), all.end(), [&](auto& old) { return names(old, variable.c_str()); }),
                  all.end());
        all.push_back(entry);
    }
    auto path = std::find_if(all.begin(), all.end(), [](auto& entry) { return names(entry, "PATH"); });
    if (path == all.end()) path = all.insert(all.end(), std::string("PATH=") + kBasePath);
    const std::string toolkit = cuda_home(path->substr(5));
    if (!orders.path_prefix.empty()) *path = "PATH=" + orders.path_prefix + ":" + path->substr(5);
    if (!toolkit.empty() && std::none_of(all.begin(), all.end(), [](auto& entry) { return names(entry, "CUDA_HOME"); }))
        all.push_back("CUDA_HOME=" + toolkit);
    if (orders.trace && !orders.launcher.empty()) {
        all.push_back("PODIUM_LAUNCHER=" + orders.launcher);
        all.push_back("PODIUM_WORKSPACE=" + orders.workspace);
    }
    if (channel != kNoSocket) all.push_back("PODIUM_CHANNEL_FD=" + std::to_string(kChannel));
    if (orders.trace) all.push_back("PODIUM_END_SIGNAL=" + std::to_string(end_signal));
    return all;
}

static void keep_only_our_streams(int gate, int report, int channel) {
    int nothing = open("/dev/null", O_RDONLY);
    int kept_gate = fcntl(gate, F_DUPFD, 10), kept_report = fcntl(report, F_DUPFD, 10);
    int kept_channel = fcntl(channel, F_DUPFD, 10);  // -1 where there is none
    dup2(nothing, 0);
    dup2(kept_gate, kGate);
    dup3(kept_report, kReport, O_CLOEXEC);
    const int end = dup2(kept_channel, kChannel) == kChannel ? kChannel + 1 : kChannel;
    if (syscall(436 /* close_range */, end, ~0u, 0) == 0) return;
    for (int file = end; file < 4096; ++file) close(file);
}

static void reset_signals() {
    signal(SIGCHLD, SIG_DFL);
    signal(SIGPIPE, SIG_DFL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
}

static const char* shell_path() {
    for (const char* path : {"/bin/bash", "/usr/bin/bash", "/bin/sh"})
        if (access(path, X_OK) == 0) return path;
    return "/bin/sh";
}

// True where the witness took hold. Until then this copy must be traceable, so it forgets both secrets first.
static bool wait_for_the_witness(Orders& orders) {
    for (std::string* secret : {&orders.nonce, &orders.over}) std::fill(secret->begin(), secret->end(), '0');
    prctl(PR_SET_DUMPABLE, 1);
    char word = 'r';
    if (write(kReport, &word, 1) != 1 || read(kGate, &word, 1) != 1) _exit(125);
    close(kGate);
    return word == 'w';
}

// Kernels that give every session an equal share weigh the session by a file, and processes within it by `nice`.
static void step_back(long niceness) {
    if (niceness <= 0 || nice(static_cast<int>(niceness)) == -1) return;
    const int session = open("/proc/self/autogroup", O_WRONLY | O_CLOEXEC);
    if (session < 0) return;
    const std::string word = std::to_string(niceness);
    if (write(session, word.data(), word.size()) < 0) {}  // without such shares there is nothing to weigh
    close(session);
}

[[noreturn]] static void run_child(Orders& orders, std::vector<std::string>& environment, int gate, int report,
                                   int channel) {
    keep_only_our_streams(gate, report, channel);
    setsid();
    reset_signals();
    const bool is_witnessed = wait_for_the_witness(orders);
    if (!is_witnessed && orders.trace) environment.pop_back();  // nobody would swallow the end signal
    limit_resources(orders);
    step_back(orders.niceness);
    const char* shell = shell_path();
    char flag[] = "-c", name[] = "bash";
    char* arguments[] = {name, flag, orders.command.data(), nullptr};
    std::vector<char*> variables = pointers(environment);
    Started started{now_ms(), 0};
    bool is_confined =
        prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && install_filter(getppid(), is_witnessed, orders.own_network);
    if (!is_confined) started.error = errno;
    if (write(kReport, &started, sizeof started) < 0 || started.error != 0) _exit(125);
    execve(shell, arguments, variables.data());
    perror("podium-supervisor: cannot start the shell");
    _exit(126);
}

// ---- the parent ----------------------------------------------------------------------------------------------------

struct Ending {
    bool ended = false;
    int status = 0;
    bool timed_out = false, cancelled = false;
    double started_ms = 0, ended_ms = 0, stalled_ms = 0;
    HostTimes host;                            // from just before the start to the end
    CoreWaits waits;                           // of traced commands
    double timed_ms = 0, lost_in_goes_ms = 0;  // of commands with a brake
};

static void ignore_signal(int) {}

static void kill_tree(pid_t parent) {
    std::string listed =
        read_small_file("/proc/" + std::to_string(parent) + "/task/" + std::to_string(parent) + "/children");
    for (const char* at = listed.c_str(); *at != 0;) {
        char* after = nullptr;
        pid_t child = static_cast<pid_t>(strtol(at, &after, 10));
        if (after == at) break;
        at = after;
        kill_tree(child);
        kill(child, SIGKILL);
    }
}

static void kill_everything(const Orders& orders) {
    if (orders.owns_everyone) kill(-1, SIGKILL);
    else kill_tree(getpid());
}

constexpr double kLookMs = 100;    // between two looks at the processor time of a command that is past its wall time
constexpr double kTickMs = 250;    // the longest wait between two looks at the clock
constexpr double kStallMs = 2000;  // a wait that is longer by this much was no delay by load: this machine stood still

class Supervision {
public:
    Supervision(const Orders& orders, Witness& witness, pid_t child, int brake)
        : orders_(orders), witness_(witness), child_(child), brake_(brake) {}

    // `host` is what the machine had done before the command started.
    Ending watch(const HostTimes& host) {
        began_ms_ = now_ms();
        while (!ending_.ended && !ending_.cancelled && !ending_.timed_out) {
            const bool found = collect_one();
            if (ending_.ended) break;
            double left = left_ms();  // after every event: a command that makes them without end runs out of time, too
            if (left <= 0) ending_.timed_out = true;
            else if (!found) wait_for_news(std::min(left, kTickMs));
        }
        const HostTimes now = HostTimes::now();
        ending_.host = {now.busy_ms - host.busy_ms, now.steal_ms - host.steal_ms};
        if (!ending_.ended) ending_.ended_ms = now_ms();
        ending_.timed_ms = brake_.timed_ms();
        ending_.lost_in_goes_ms = brake_.lost_ms();
        kill_everything(orders_);
        if (ending_.timed_out && ending_.stalled_ms == 0) say_that_time_is_over();
        end_the_rest();
        return ending_;
    }

private:
    // Until the command is out of time, as far as that is known now; 0 or less where it is.
    double left_ms() {
        const double spent_ms = now_ms() - began_ms_;
        const double limit_ms = static_cast<double>(orders_.wall_ms);
        if (orders_.processor_ms == 0 || spent_ms < limit_ms) return limit_ms - spent_ms;
        const double longest_left_ms = static_cast<double>(orders_.longest_ms) - spent_ms;
        if (spent_ms < next_look_ms_) return std::min(longest_left_ms, next_look_ms_ - spent_ms);
        next_look_ms_ = spent_ms + kLookMs;
        const bool is_used_up = descendants_have_used(static_cast<double>(orders_.processor_ms));
        return is_used_up ? 0 : std::min(longest_left_ms, kLookMs);
    }

    // Ending many processes may take long on a loaded machine. The agent then knows the verdict, if not the figures.
    void say_that_time_is_over() const {
        const std::string line = "\n" + orders_.over + "\n";
        write_all(1, line.data(), line.size());
    }

    bool collect_one() {
        if (orders_.trace) note_waits();
        int status = 0;
        pid_t task = waitpid(-1, &status, WNOHANG | __WALL);
        if (task <= 0) return false;
        if (WIFSTOPPED(status)) witness_.on_stop(task, status);
        else on_end(task, status);
        return true;
    }

    // Only of a traced command do all threads' ends come here.
    void note_waits() {
        siginfo_t next{};
        if (waitid(P_ALL, 0, &next, WEXITED | WSTOPPED | WNOHANG | WNOWAIT | __WALL) != 0 || next.si_pid == 0) return;
        if (next.si_code == CLD_EXITED || next.si_code == CLD_KILLED || next.si_code == CLD_DUMPED)
            ending_.waits.note(next.si_pid);
    }

    void on_end(pid_t task, int status) {
        witness_.on_end(task, status);
        if (task != child_) return;
        ending_.ended = true;
        ending_.status = status;
        ending_.ended_ms = now_ms();
    }

    // SIGCHLD is blocked but here, so no end of a child can slip in between the look and the wait.
    void wait_for_news(double left_ms) {
        sigset_t none;
        sigemptyset(&none);
        timespec timeout{static_cast<time_t>(left_ms / 1e3),
                         static_cast<long>(static_cast<long>(left_ms * 1e6) % 1000000000)};
        pollfd lines[] = {{0, POLLIN, 0}, {is_braked_ ? brake_.socket() : -1, POLLIN, 0}};
        const double asked_ms = now_ms();
        const int ready = ppoll(lines, 2, &timeout, &none);
        const double late_ms = now_ms() - asked_ms - left_ms;
        if (late_ms > kStallMs) {
            ending_.stalled_ms += late_ms;
            began_ms_ += late_ms;  // the limit counts only the time for which the command could run
        }
        if (ready <= 0) return;
        if (lines[1].revents != 0) is_braked_ = brake_.serve();
        if (lines[0].revents == 0) return;
        char block[64];
        if (read(0, block, sizeof block) <= 0) ending_.cancelled = true;  // the agent closed its end, or died
    }

    void end_the_rest() {
        double patience = now_ms() + 5000;
        while (now_ms() < patience) {
            kill_everything(orders_);
            int status = 0;
            pid_t task = waitpid(-1, &status, WNOHANG | __WALL);
            if (task < 0 && errno == ECHILD) return;
            if (task > 0 && WIFSTOPPED(status)) ptrace(PTRACE_CONT, task, 0, SIGKILL);
            else if (task > 0) witness_.on_end(task, status);
            else usleep(200);
        }
    }

    const Orders& orders_;
    Witness& witness_;
    pid_t child_;
    Brake brake_;
    bool is_braked_ = brake_.socket() != kNoSocket;
    Ending ending_;
    double began_ms_ = 0, next_look_ms_ = 0;
};

static std::string json_text(const std::string& text) {
    std::string quoted = "\"";
    for (unsigned char letter : text.substr(0, 400))
        quoted += letter == '"' || letter == '\\' || letter < 0x20 || letter > 0x7E ? '?' : static_cast<char>(letter);
    return quoted + "\"";
}

static void send_report(const Orders& orders, const Witness& witness, const Ending& ending) {
    rusage usage{};
    getrusage(RUSAGE_CHILDREN, &usage);
    const double cpu_ms = waited_for_cpu_ms(), wall_ms = ending.ended_ms - ending.started_ms;
    bool exited = ending.ended && WIFEXITED(ending.status);
    int killed_by = ending.ended ? WTERMSIG(ending.status) : SIGKILL;
    char numbers[512];
    snprintf(
        numbers, sizeof numbers,
        "{\"exit_code\": %s, \"signal\": %s, \"timed_out\": %s, \"cancelled\": %s, \"wall_ms\": %.4f, "
        "\"cpu_ms\": %.3f, \"stalled_ms\": %.3f, \"lost_ms\": %.3f, \"timed_ms\": %.3f, "
        "\"others_ms\": %.3f, \"steal_ms\": %.3f, \"max_rss_bytes\": %ld, \"witness\": \"%s\", \"witness_detail\": ",
        exited ? std::to_string(WEXITSTATUS(ending.status)).c_str() : "null",
        exited ? "null" : std::to_string(killed_by).c_str(), ending.timed_out ? "true" : "false",
        ending.cancelled ? "true" : "false", wall_ms, cpu_ms, ending.stalled_ms,
        ending.timed_ms > 0 ? ending.lost_in_goes_ms : ending.waits.lost_ms(wall_ms, cpu_ms), ending.timed_ms,
        std::max(0.0, ending.host.busy_ms - cpu_ms), ending.host.steal_ms, usage.ru_maxrss * 1024, witness.verdict());
    std::string line = "\n" + orders.nonce + " " + numbers + json_text(witness.detail()) + "}\n";
    write_all(1, line.data(), line.size());
}

static void prepare_to_supervise() {
    prctl(PR_SET_DUMPABLE, 0);  // same uid as the command: it must not read this process's memory or open its files
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    signal(SIGPIPE, SIG_IGN);
    struct sigaction action{};
    action.sa_handler = ignore_signal;
    sigaction(SIGCHLD, &action, nullptr);
    sigset_t children;
    sigemptyset(&children);
    sigaddset(&children, SIGCHLD);
    sigprocmask(SIG_BLOCK, &children, nullptr);
}

static std::string enter_workspace(const Orders& orders) {
    char folder[PATH_MAX];
    if (chdir(orders.workspace.c_str()) != 0) die("cannot enter the workspace");
    if (getcwd(folder, sizeof folder) == nullptr) die("cannot name the workspace");
    return folder;
}

// Lets the child go, under the witness where asked for; returns when it started, in milliseconds.
static double release(const Orders& orders, Witness& witness, pid_t child, int gate, int report) {
    char ready;
    Started started{};
    if (read(report, &ready, 1) != 1) die("the command's process died at birth");
    write_all(gate, orders.trace && witness.seize(child) ? "w" : "g", 1);
    if (read(report, &started, sizeof started) != sizeof started || started.error != 0)
        die("cannot confine the command");
    close(gate);
    close(report);
    return started.at_ms;
}

static int supervise() {
    prepare_to_supervise();
    Orders orders = read_orders();
    std::string folder = enter_workspace(orders);
    int end_signal = SIGRTMIN + 4 + static_cast<int>(strtoul(orders.nonce.substr(0, 6).c_str(), nullptr, 16) % 20);
    const Sockets sockets = open_sockets(orders);
    const int channel = sockets.channel;
    std::vector<std::string> environment = environment_for(orders, channel, end_signal);
    int gate[2], report[2];
    if (pipe2(gate, O_CLOEXEC) != 0 || pipe2(report, O_CLOEXEC) != 0) die("cannot make pipes");
    std::string hello = orders.nonce + "\n";
    write_all(1, hello.data(), hello.size());
    pid_t child = fork();
    if (child < 0) die("cannot fork");
    if (child == 0) run_child(orders, environment, gate[0], report[1], channel);
    close(channel);  // its other end must see the command's end as its end
    close(gate[0]);
    close(report[1]);
    Witness witness(orders, folder, end_signal);
    const HostTimes host = HostTimes::now();
    double started_ms = release(orders, witness, child, gate[1], report[0]);
    Ending ending = Supervision(orders, witness, child, sockets.brake).watch(host);
    ending.started_ms = started_ms;
    send_report(orders, witness, ending);
    pollfd agent{0, POLLIN, 0};
    if (orders.linger) poll(&agent, 1, 2000);
    return 0;
}

// ---- entering the sandbox from outside -----------------------------------------------------------------------------

constexpr char kStage[] = "/mnt";

static void join_group(const char* list) {
    int file = open(list, O_WRONLY | O_CLOEXEC);
    if (file < 0 || write(file, "0", 1) != 1) die("cannot join the control group");
    close(file);
}

static void drop_to(long uid, long gid) {
    if (uid < 0) return;
    if (setgroups(0, nullptr) != 0 || setresgid(gid, gid, gid) != 0 || setresuid(uid, uid, uid) != 0)
        die("cannot drop to the slot's user");
}

// Shows `source` at kStage/INDEX. It is opened as root, so the slot's user need not be able to walk to it.
static void stage(const char* source, int index) {
    std::string place = std::string(kStage) + "/" + std::to_string(index);
    int file = open(source, O_PATH | O_CLOEXEC);
    struct stat facts{};
    if (file < 0 || fstat(file, &facts) != 0) die("cannot open a folder that the sandbox shall show");
    if (S_ISDIR(facts.st_mode)) mkdir(place.c_str(), 0755);
    else close(open(place.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0644));
    std::string opened = "/proc/self/fd/" + std::to_string(file);
    if (mount(opened.c_str(), place.c_str(), nullptr, MS_BIND | MS_REC, nullptr) != 0) die("cannot stage a folder");
    close(file);
}

// In a mount namespace of our own, so that nothing of this shows outside and all of it goes with the command.
static void stage_all(char** sources, int count) {
    if (count == 0) return;
    if (unshare(CLONE_NEWNS) != 0 || mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0)
        die("cannot make a mount namespace: an agent that runs as root needs CAP_SYS_ADMIN, or run it as another user");
    if (mount("podium", kStage, "tmpfs", 0, "mode=0755,size=1m") != 0)
        die("cannot stage folders on /mnt: make that folder");
    umask(022);
    for (int index = 0; index < count; ++index) stage(sources[index], index);
}

static int enter(int count, char** arguments) {
    int groups = count > 2 ? atoi(arguments[2]) : -1;
    if (groups < 0 || count <= 4 + groups) die("enter names fewer control groups than it says");
    int sources = atoi(arguments[3 + groups]);
    if (sources < 0 || count <= 4 + groups + sources) die("enter names fewer folders than it says");
    for (int index = 0; index < groups; ++index) join_group(arguments[3 + index]);
    stage_all(arguments + 4 + groups, sources);
    char** program = arguments + 4 + groups + sources;
    int file = open(program[0], O_RDONLY | O_CLOEXEC);  // before the drop: its folder may be closed to others
    drop_to(atol(arguments[0]), atol(arguments[1]));
    fexecve(file, program, environ);
    die("cannot start the sandbox's program");
}

int main(int count, char** arguments) {
    const char* slash = strrchr(arguments[0], '/');
    const char* name = slash == nullptr ? arguments[0] : slash + 1;
    if (strcmp(name, "nvcc") == 0) return start_nvcc(arguments);
    if (strncmp(name, "python", 6) == 0) return start_python(name, arguments);
    if (count == 2 && strcmp(arguments[1], "supervise") == 0) return supervise();
    if (count > 2 && strcmp(arguments[1], "enter") == 0) return enter(count - 2, arguments + 2);
    die("usage: supervise, or enter UID GID N FILE... M SOURCE... PROGRAM ARGUMENT...");
}
