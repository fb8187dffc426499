#include "process.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "lock.h"

namespace podium {
namespace {

constexpr char NOTES[] = "PODIUM_CUPTI_NOTES";
constexpr char GATE[] = "PODIUM_GATE";
constexpr long TICK_NS = 50'000'000;
constexpr int MOST_TICKS = 20;  // between two intermediate notes of a process that never rests

// The state that a child of `fork` must not share with its parent.
struct Recording {
    explicit Recording(std::string folder_) : folder(std::move(folder_)) {}

    const std::string folder;
    const pid_t pid = getpid();
    const Nanoseconds begun = clock_now();
    Recorder recorder{begun};
    Mutex telling;  // one thread at a time flushes and writes; none does after the final notes
    std::atomic<bool> uses_device{false};
    std::atomic<bool> finished{false};

    std::string stem() const { return folder + "/" + std::to_string(pid) + "-" + std::to_string(begun); }
};

std::atomic<Recording*> current{nullptr};
std::atomic<bool> asked{false};
std::atomic<bool> beginning{false};
std::atomic<unsigned> generation{1};  // grows at each fork, so that a child asks for its thread ids again
std::atomic<void (*)()> last_flush{nullptr};

void write_file(const std::string& path, const std::string& text) {
    const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0644);
    if (file < 0) return;
    for (std::size_t done = 0; done < text.size();) {
        const ssize_t written = write(file, text.data() + done, text.size() - done);
        if (written <= 0) break;
        done += static_cast<std::size_t>(written);
    }
    close(file);
}

// Writes a draft and renames it, so that the notes are never incomplete.
void write_notes(Recording& recording, bool is_final) {
    const std::string draft = recording.stem() + ".draft";
    write_file(draft, recording.recorder.json(recording.pid, clock_now, is_final));
    rename(draft.c_str(), (recording.stem() + ".json").c_str());
}

void finish() {
    Recording* recording = current.load();
    if (!recording) return;
    const Guard guard(recording->telling);
    if (recording->finished) return;
    if (recording->uses_device)
        if (auto* flush = last_flush.load()) flush();
    recording->finished = true;
    if (recording->recorder.worth_telling()) write_notes(*recording, true);
}

// The handler registered last runs first. This is called again after CUDA has started, so that `finish` runs before
// CUDA's own handlers.
void at_either_exit() {
    std::atexit(finish);
    std::at_quick_exit(finish);
}

// A child of `fork` has its parent's memory but none of its other threads. The parent's recording is not freed, because
// those threads may have been using it.
void forget_parent() {
    current = nullptr;
    beginning = false;
    ++generation;
}

// Writes intermediate notes, so that a process that ends by _exit or a signal loses little. Writes when the process
// rests, or else every MOST_TICKS. Never writes while a range is open, because CUPTI delays launches while it delivers
// records.
void* write_in_between(void* flush) {
    Recording& recording = *current.load();
    std::uint64_t told = 0, seen = 0;
    for (int ticks = 0; !recording.finished; ++ticks) {
        const timespec tick{0, TICK_NS};
        nanosleep(&tick, nullptr);
        const bool rests = recording.recorder.changes() == seen;
        seen = recording.recorder.changes();
        if (seen == told || recording.recorder.any_open() || (!rests && ticks < MOST_TICKS)) continue;
        const Guard guard(recording.telling);
        if (recording.finished) break;
        reinterpret_cast<void (*)()>(flush)();
        told = seen = recording.recorder.changes();
        ticks = 0;
        write_notes(recording, false);
    }
    return nullptr;
}

// Blocks all signals in the thread, because they are meant for the program's own threads.
void start_thread(void* (*body)(void*), void* argument) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_t thread;
    if (pthread_create(&thread, nullptr, body, argument) == 0) pthread_detach(thread);
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace

Nanoseconds clock_now() {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<Nanoseconds>(now.tv_sec) * 1'000'000'000 + static_cast<Nanoseconds>(now.tv_nsec);
}

Moment now() { return {clock_now(), gate().waited_ns()}; }

ThreadId this_thread() {
    thread_local unsigned known_in = 0;
    thread_local ThreadId thread = 0;
    if (const unsigned now = generation.load(std::memory_order_relaxed); known_in != now) {
        known_in = now;
        thread = static_cast<ThreadId>(syscall(SYS_gettid));
    }
    return thread;
}

Recorder* recorder() {
    if (!asked.load(std::memory_order_relaxed)) return nullptr;
    if (!current.load(std::memory_order_acquire)) begin_recording();
    Recording* recording = current.load(std::memory_order_acquire);
    if (!recording || recording->finished.load(std::memory_order_relaxed)) return nullptr;
    return &recording->recorder;
}

Gate& gate() {
    static Gate* const held = new Gate(std::getenv(GATE));  // never freed: threads may use it during exit
    return *held;
}

void begin_recording() {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    const char* folder = std::getenv(NOTES);
    if (!folder || !*folder || beginning.exchange(true)) return;
    pthread_once(&once, [] {
        pthread_atfork(nullptr, nullptr, forget_parent);
        at_either_exit();
        asked = true;
    });
    current = new Recording(folder);
}

void note_device_use(void (*flush)()) {
    Recording* recording = current.load();
    if (!recording) return;
    recording->recorder.context_created();
    if (recording->uses_device.exchange(true)) return;
    write_file(recording->stem() + ".begun", "");
    start_thread(write_in_between, reinterpret_cast<void*>(flush));
}

void finish_at_exit(void (*flush)()) {
    last_flush = flush;
    at_either_exit();
}

}  // namespace podium
