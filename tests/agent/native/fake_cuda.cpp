// A stand-in for NVIDIA's libcuda.so.1 where there is no GPU: memory is a file that outlives the process, as a device's
// outlives it, and podium-gpu's kernels are done by hand. It shows what the program does with a driver, not its kernels.
//
// FAKE_GPU_MEMORY: the file, as large as the device's memory. FAKE_GPU_LARGEST: bytes of the largest single allocation.
// FAKE_GPU_FAULT: "forgets" (a word does not keep what is written), "miscomputes", "lost" or "hangs".

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <vector>

namespace {

constexpr int kOutOfMemory = 2, kLost = 700;
uint8_t* memory = nullptr;
uint64_t memory_bytes = 0;
std::map<uint64_t, uint64_t> taken;  // offset → bytes
std::vector<std::string> kernels;
std::vector<double> events;

std::string setting(const char* name) {
    const char* text = std::getenv(name);
    return text ? text : "";
}

bool fault(const char* name) { return setting("FAKE_GPU_FAULT") == name; }

double now_ms() {
    using Milliseconds = std::chrono::duration<double, std::milli>;
    return Milliseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}

uint64_t* words_at(uint64_t address) { return reinterpret_cast<uint64_t*>(memory + address); }

uint32_t logistic_lane(int lane, int turns) {
    uint32_t all = 0;
    for (int chain = 0; chain < 8; ++chain) {
        float x = static_cast<float>(8 * lane + chain + 1) / 512;
        for (int link = 0; link < turns * 5; ++link) {
            const float t = 3.99f * x;
            x = std::fma(-t, x, t);
        }
        uint32_t bits;
        std::memcpy(&bits, &x, 4);
        all ^= bits;
    }
    return all;
}

void logistic(uint64_t at, int turns, unsigned threads) {
    static std::vector<uint32_t> lanes;
    for (int lane = static_cast<int>(lanes.size()); lane < 32; ++lane) lanes.push_back(logistic_lane(lane, turns));
    auto* words = reinterpret_cast<uint32_t*>(memory + at);
    for (unsigned i = 0; i < threads; ++i) words[i] = lanes[i % 32];
    if (fault("miscomputes")) words[77] ^= 1;
}

void work(const std::string& name, const std::vector<uint64_t>& p, unsigned threads) {
    const uint64_t n_words = 2 * p[1];
    uint64_t* words = words_at(p[0]);
    if (name == "fill") std::fill(words, words + n_words, p[2]);
    if (name == "fill" && fault("forgets")) words[n_words / 2] ^= 1;
    if (name == "count") *words_at(p[3]) += std::count(words, words + n_words, p[2]);
    if (name == "noise")
        for (uint64_t i = 0; i < n_words; ++i) words[i] = ((i * 0x9E3779B97F4A7C15) & p[2]) | p[3];
    if (name == "differ")
        for (uint64_t i = 0; i < n_words; ++i) *words_at(p[3]) += words[i] != words_at(p[2])[i];
    if (name == "logistic") logistic(p[0], static_cast<int>(p[1]), threads);
}

}  // namespace

extern "C" {

int cuInit(unsigned) {
    if (fault("hangs"))
        for (;;) pause();
    const int file = open(setting("FAKE_GPU_MEMORY").c_str(), O_RDWR);
    struct stat facts;
    if (file < 0 || fstat(file, &facts) != 0) return 100;
    memory_bytes = facts.st_size;
    memory = static_cast<uint8_t*>(mmap(nullptr, memory_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0));
    return 0;
}
int cuGetErrorName(int status, const char** name) {
    *name = status == kLost ? "CUDA_ERROR_ILLEGAL_ADDRESS" : status == kOutOfMemory ? "CUDA_ERROR_OUT_OF_MEMORY" : "CUDA_ERROR";
    return 0;
}
int cuGetErrorString(int, const char** words) {
    *words = "as the fake was told";
    return 0;
}
int cuDeviceGetCount(int* count) {
    const std::string visible = setting("CUDA_VISIBLE_DEVICES");
    *count = visible.empty() ? 0 : 1 + static_cast<int>(std::count(visible.begin(), visible.end(), ','));
    return 0;
}
int cuDeviceGet(int* device, int) { return *device = 0; }
int cuDeviceGetName(char* name, int, int) { return std::strcpy(name, "Fake GPU"), 0; }
int cuDeviceGetAttribute(int* value, int which, int) { return *value = which == 38 ? 1 << 20 : 1, 0; }
int cuDevicePrimaryCtxRetain(void**, int) { return 0; }
int cuCtxSetCurrent(void*) { return 0; }
int cuCtxSynchronize() { return fault("lost") ? kLost : 0; }
int cuMemGetInfo_v2(size_t* free, size_t* total) {
    uint64_t used = 0;
    for (const auto& [at, bytes] : taken) used += bytes;
    *total = memory_bytes;
    return *free = memory_bytes - used, 0;
}
int cuMemAlloc_v2(uint64_t* address, size_t bytes) {
    const std::string largest = setting("FAKE_GPU_LARGEST");
    if (!largest.empty() && bytes > std::stoull(largest)) return kOutOfMemory;
    const uint64_t wanted = (bytes + 4095) / 4096 * 4096;
    uint64_t at = 4096;  // 0 is no address
    for (const auto& [start, length] : taken) {
        if (start >= at + wanted) break;
        at = start + length;
    }
    if (at + wanted > memory_bytes) return kOutOfMemory;
    taken[at] = wanted;
    return *address = at, 0;
}
int cuMemFree_v2(uint64_t address) { return taken.erase(address) ? 0 : 1; }
int cuMemcpyDtoH_v2(void* to, uint64_t from, size_t bytes) { return std::memcpy(to, memory + from, bytes), 0; }
int cuMemcpyHtoD_v2(uint64_t to, const void* from, size_t bytes) { return std::memcpy(memory + to, from, bytes), 0; }
int cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t bytes, void*) {
    return std::memcpy(memory + to, memory + from, bytes), 0;
}
int cuModuleLoadDataEx(void**, const void*, unsigned, int*, void**) { return 0; }
int cuModuleGetFunction(void** function, void*, const char* name) {
    kernels.emplace_back(name);
    *function = reinterpret_cast<void*>(kernels.size());
    return 0;
}
int cuLaunchKernel(void* function, unsigned blocks, unsigned, unsigned, unsigned threads, unsigned, unsigned, unsigned,
                   void*, void** parameters, void**) {
    const std::string& name = kernels[reinterpret_cast<size_t>(function) - 1];
    const size_t n = name == "fill" ? 3 : name == "logistic" || name.rfind("fma", 0) == 0 ? 2 : 4;
    std::vector<uint64_t> values;
    for (size_t i = 0; i < n; ++i) values.push_back(*static_cast<uint64_t*>(parameters[i]));
    work(name, values, blocks * threads);
    return 0;
}
int cuEventCreate(void** event, unsigned) {
    events.push_back(0);
    *event = reinterpret_cast<void*>(events.size());
    return 0;
}
int cuEventRecord(void* event, void*) { return events[reinterpret_cast<size_t>(event) - 1] = now_ms(), 0; }
int cuEventSynchronize(void*) { return 0; }
int cuEventElapsedTime(float* ms, void* from, void* to) {
    *ms = static_cast<float>(events[reinterpret_cast<size_t>(to) - 1] - events[reinterpret_cast<size_t>(from) - 1]);
    return *ms = std::max(*ms, 1e-3f), 0;
}
}
