// The device memory that a solution is given, and the errors of its kernels.
#pragma once

#include <cuda_runtime.h>

#include <stdexcept>
#include <string>

#include "channel.h"

namespace textbook {

inline void check(cudaError_t error, const char* what) {
    if (error != cudaSuccess) throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(error));
}

// Waits for all work. Fails on any error that a launch or a kernel left behind.
inline void finish() {
    const cudaError_t launch = cudaGetLastError();
    const cudaError_t run = cudaDeviceSynchronize();
    check(launch, "a launch failed");
    check(run, "a kernel failed");
}

// Device memory with the bytes of `block`, aligned as by cudaMalloc.
class Memory {
  public:
    explicit Memory(const Block& block) : size_(block.size()) {
        check(cudaMalloc(reinterpret_cast<void**>(&start_), size_), "cudaMalloc");
        check(cudaMemcpy(start_, block.data(), size_, cudaMemcpyHostToDevice), "copying to the device");
    }
    Memory(const Memory&) = delete;
    Memory& operator=(const Memory&) = delete;
    ~Memory() { cudaFree(start_); }

    unsigned char* start() const { return start_; }

    Block content() const {
        Block block(size_);
        check(cudaMemcpy(block.data(), start_, size_, cudaMemcpyDeviceToHost), "copying from the device");
        return block;
    }

  private:
    unsigned char* start_ = nullptr;
    std::size_t size_;
};

}  // namespace textbook
