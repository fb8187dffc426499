// The one visible device: its memory, kernels and clock.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "driver.h"
#include "kernels.h"

namespace podium {

constexpr unsigned kThreads = 256;
constexpr unsigned kBlocksEach = 8;  // blocks per multiprocessor: 2048 threads, the most that any GPU holds
constexpr size_t kPairBytes = 16;

inline double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    const size_t half = values.size() / 2;
    return values.size() % 2 ? values[half] : (values[half - 1] + values[half]) / 2;
}

class Device {
public:
    Device() {
        cuda.check(cuda.init(0), "cuInit");
        int count = 0;
        cuda.check(cuda.device_count(&count), "cuDeviceGetCount");
        if (count != 1)
            throw Failure(std::to_string(count) + " devices are visible; name one by its UUID in CUDA_VISIBLE_DEVICES");
        cuda.check(cuda.device(&ordinal_, 0), "cuDeviceGet");
        cuda.check(cuda.retain_context(&context_, ordinal_), "cuDevicePrimaryCtxRetain");
        cuda.check(cuda.set_context(context_), "cuCtxSetCurrent");
        load_kernels();
        cuda.check(cuda.make_event(&begun_, 0), "cuEventCreate");
        cuda.check(cuda.make_event(&ended_, 0), "cuEventCreate");
        counter_ = allocate(kPairBytes);
    }

    std::string name() const {
        char text[256] = "";
        cuda.check(cuda.device_name(text, sizeof text - 1, ordinal_), "cuDeviceGetName");
        return text;
    }

    int attribute(int which) const {
        int value = 0;
        cuda.check(cuda.device_attribute(&value, which, ordinal_), "cuDeviceGetAttribute");
        return value;
    }

    unsigned blocks(unsigned each = kBlocksEach) const { return each * attribute(kMultiprocessors); }

    size_t free_bytes() const {
        size_t free = 0, total = 0;
        cuda.check(cuda.memory_info(&free, &total), "cuMemGetInfo");
        return free;
    }

    Address allocate(size_t bytes) const {
        Address at = 0;
        cuda.check(cuda.allocate(&at, bytes), ("cuMemAlloc of " + std::to_string(bytes) + " bytes").c_str());
        return at;
    }

    // Returns 0 if there is not enough memory. Throws Failure on other errors.
    Address try_allocate(size_t bytes) const {
        Address at = 0;
        const int status = cuda.allocate(&at, bytes);
        if (status == kOutOfMemory) return 0;
        cuda.check(status, "cuMemAlloc");
        return at;
    }

    void release(Address at) const { cuda.check(cuda.release(at), "cuMemFree"); }

    // Waits until all work is done. Throws Failure if a kernel failed.
    void finish(const char* what) const { cuda.check(cuda.synchronise(), what); }

    template <class... Arguments>
    void launch(const char* name, unsigned n_blocks, Arguments... arguments) const {
        uint64_t values[] = {static_cast<uint64_t>(arguments)...};
        void* pointers[sizeof...(arguments)];
        for (size_t i = 0; i < sizeof...(arguments); ++i) pointers[i] = &values[i];
        Handle function = nullptr;
        cuda.check(cuda.find_kernel(&function, module_, name), name);
        cuda.check(cuda.launch(function, n_blocks, 1, 1, kThreads, 1, 1, 0, nullptr, pointers, nullptr), name);
    }

    void fill(Address at, size_t bytes, uint64_t word) const { launch("fill", blocks(), at, bytes / kPairBytes, word); }

    void noise(Address at, size_t bytes, uint64_t keep, uint64_t set) const {
        launch("noise", blocks(), at, bytes / kPairBytes, keep, set);
    }

    void copy(Address to, Address from, size_t bytes) const {
        cuda.check(cuda.copy(to, from, bytes, nullptr), "cuMemcpyDtoD");
    }

    // The number of words that equal `word`.
    uint64_t count(Address at, size_t bytes, uint64_t word) const {
        return counted([&] { launch("count", blocks(), at, bytes / kPairBytes, word, counter_); });
    }

    void start_count(Address at, size_t bytes, uint64_t word) const {
        launch("count", blocks(), at, bytes / kPairBytes, word, counter_);
    }

    // The number of words in which two buffers differ.
    uint64_t differing(Address one, Address other, size_t bytes) const {
        return counted([&] { launch("differ", blocks(), one, bytes / kPairBytes, other, counter_); });
    }

    // The time that the device takes for `work`, in milliseconds.
    double time_ms(const std::function<void()>& work) const {
        cuda.check(cuda.record_event(begun_, nullptr), "cuEventRecord");
        work();
        cuda.check(cuda.record_event(ended_, nullptr), "cuEventRecord");
        cuda.check(cuda.await_event(ended_), "cuEventSynchronize");
        float elapsed = 0;
        cuda.check(cuda.elapsed_ms(&elapsed, begun_, ended_), "cuEventElapsedTime");
        return elapsed;
    }

    std::vector<double> times_ms(int times, const std::function<void()>& work) const {
        std::vector<double> taken;
        for (int i = 0; i < times; ++i) taken.push_back(time_ms(work));
        return taken;
    }

    const Cuda cuda;

private:
    void load_kernels() {
        const std::string text = all_kernels();
        char log[4096] = "";
        int options[] = {kJitErrorLog, kJitErrorLogBytes};
        void* values[] = {log, reinterpret_cast<void*>(static_cast<uintptr_t>(sizeof log))};
        const int status = cuda.load_module(&module_, text.c_str(), 2, options, values);
        if (status != 0) throw Failure("cuModuleLoadDataEx: " + cuda.words(status) + "\n" + std::string(log));
    }

    uint64_t counted(const std::function<void()>& start) const {
        uint64_t n = 0;
        cuda.check(cuda.to_device(counter_, &n, sizeof n), "cuMemcpyHtoD");
        start();
        cuda.check(cuda.to_host(&n, counter_, sizeof n), "counting");
        return n;
    }

    int ordinal_ = 0;
    Handle context_ = nullptr, module_ = nullptr, begun_ = nullptr, ended_ = nullptr;
    Address counter_ = 0;
};

}  // namespace podium
