// A process that uses the fake device (fake_cupti.cpp) and ends in the way that its argument names. What the CUDA driver
// does at its start is done by hand: load the library that CUDA_INJECTION64_PATH names and call its entry point.
#include <dlfcn.h>
#include <nvtx3/nvToolsExt.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <string>

namespace {

constexpr std::uint64_t MS = 1'000'000;
void* fake = nullptr;

template <class... Arguments>
void ask(const char* what, Arguments... arguments) {
    reinterpret_cast<void (*)(Arguments...)>(dlsym(fake, what))(arguments...);
}

void start_cuda() {
    void* library = dlopen(std::getenv("CUDA_INJECTION64_PATH"), RTLD_NOW);
    if (!library) std::exit(3);
    reinterpret_cast<int (*)()>(dlsym(library, "InitializeInjection"))();
    fake = dlopen("libcupti.so.13", RTLD_NOW | RTLD_NOLOAD);
    if (!fake) std::exit(4);
    ask("fake_context");
}

void launch(int times, std::uint64_t lasts_ns = MS) {
    for (int i = 0; i < times; ++i) ask("fake_launch", std::uint64_t{0}, lasts_ns);
}

void work() {
    nvtxRangePushA("bench_region");
    launch(4), usleep(5000);
    nvtxRangePop();
    launch(2), usleep(5000);
}

}  // namespace

int main(int, char** words) {
    const std::string how = words[1];
    if (how == "fork first") {
        nvtxRangePushA("bench_region");
        if (fork() == 0) start_cuda(), launch(3), usleep(5000), std::exit(0);
        wait(nullptr);
        nvtxRangePop();
        return 0;
    }
    start_cuda();
    if (how == "copy") return ask("fake_copy", std::uint64_t{std::strtoull(words[2], nullptr, 10)}), 0;
    if (how == "launch and copy") launch(1), ask("fake_copy", std::uint64_t{1 << 20}), std::exit(0);
    if (how == "launch") return launch(std::atoi(words[2])), 0;
    if (how == "launch apart") {
        for (int left = std::atoi(words[2]); left > 0; --left) launch(1), usleep(400'000);
        return 0;
    }
    if (how == "use and free") {  // by the calls that are named
        for (char** name = words + 2; *name; ++name) ask("fake_use", *name, std::uint64_t{0x50});
        return ask("fake_free", std::uint64_t{300'000}), 0;
    }
    if (how == "launch and free") return launch(1), ask("fake_free", std::uint64_t{300'000}), 0;
    if (how == "free") return ask("fake_free", std::uint64_t{300'000}), 0;
    if (how == "free in capture") {  // which begins and ends with these results
        launch(1);
        ask("fake_capture", std::uint32_t{1}, std::atoi(words[2])), ask("fake_free", std::uint64_t{300'000});
        ask("fake_capture", std::uint32_t{0}, std::atoi(words[3])), ask("fake_free", std::uint64_t{300'000});
        return 0;
    }
    if (how == "graph") {  // of so many kernels
        nvtxRangePushA("bench_region");
        ask("fake_graph", std::uint64_t{std::strtoull(words[2], nullptr, 10)}, MS), usleep(5000);
        return nvtxRangePop(), 0;
    }
    if (how == "wait") return ask("fake_wait"), 0;
    if (how == "stop recording") ask("fake_stop_recording");
    work();
    if (how == "reset") ask("fake_reset"), work();
    if (how == "in flight") launch(3, 60'000 * MS);
    if (how == "unsubscribe") ask("fake_unsubscribe");
    if (how == "fork later" && fork() == 0) return 0;
    if (how == "fork later") wait(nullptr);
    if (how == "_exit") _exit(0);
    if (how == "rest and _exit") usleep(400'000), _exit(0);
    if (how == "rest and die") usleep(400'000), raise(SIGKILL);
    if (how == "busy and _exit") {
        for (int i = 0; i < 150; ++i) launch(1), usleep(10'000);
        _exit(0);
    }
    if (how == "quick_exit") std::quick_exit(0);
    return 0;
}
