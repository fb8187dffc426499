// The CUDA driver's functions that podium-gpu calls. They are found at run time, so no toolkit and no headers are needed.
#pragma once

#include <dlfcn.h>

#include <cstdint>
#include <stdexcept>
#include <string>

namespace podium {

// An error message for an operator. It ends the program with status 1.
struct Failure : std::runtime_error {
    using std::runtime_error::runtime_error;
};

constexpr int kOutOfMemory = 2;
constexpr int kMultiprocessors = 16, kL2Bytes = 38;     // CUdevice_attribute
constexpr int kJitErrorLog = 5, kJitErrorLogBytes = 6;  // CUjit_option

using Address = uint64_t;  // CUdeviceptr
using Handle = void*;      // CUcontext, CUmodule, CUfunction, CUevent, CUstream

// A shared library and its functions.
class Library {
public:
    explicit Library(Handle opened) : opened_(opened) {}

    template <class Function>
    void find(Function& function, const char* name) const {
        function = reinterpret_cast<Function>(dlsym(opened_, name));
        if (function == nullptr) throw Failure(std::string(name) + " is not in the library; update the driver");
    }

private:
    Handle opened_;
};

struct Cuda {
    int (*init)(unsigned);
    int (*error_name)(int, const char**);
    int (*error_words)(int, const char**);
    int (*device_count)(int*);
    int (*device)(int*, int);
    int (*device_name)(char*, int, int);
    int (*device_attribute)(int*, int, int);
    int (*retain_context)(Handle*, int);
    int (*set_context)(Handle);
    int (*synchronise)();
    int (*memory_info)(size_t*, size_t*);
    int (*allocate)(Address*, size_t);
    int (*release)(Address);
    int (*to_host)(void*, Address, size_t);
    int (*to_device)(Address, const void*, size_t);
    int (*copy)(Address, Address, size_t, Handle);
    int (*load_module)(Handle*, const void*, unsigned, int*, void**);
    int (*find_kernel)(Handle*, Handle, const char*);
    int (*launch)(Handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, Handle, void**, void**);
    int (*make_event)(Handle*, unsigned);
    int (*record_event)(Handle, Handle);
    int (*await_event)(Handle);
    int (*elapsed_ms)(float*, Handle, Handle);

    Cuda() {
        Handle opened = dlopen("libcuda.so.1", RTLD_NOW);
        if (opened == nullptr) throw Failure(std::string("there is no NVIDIA driver here: ") + dlerror());
        const Library library(opened);
        library.find(init, "cuInit");
        library.find(error_name, "cuGetErrorName");
        library.find(error_words, "cuGetErrorString");
        library.find(device_count, "cuDeviceGetCount");
        library.find(device, "cuDeviceGet");
        library.find(device_name, "cuDeviceGetName");
        library.find(device_attribute, "cuDeviceGetAttribute");
        library.find(retain_context, "cuDevicePrimaryCtxRetain");
        library.find(set_context, "cuCtxSetCurrent");
        library.find(synchronise, "cuCtxSynchronize");
        library.find(memory_info, "cuMemGetInfo_v2");
        library.find(allocate, "cuMemAlloc_v2");
        library.find(release, "cuMemFree_v2");
        library.find(to_host, "cuMemcpyDtoH_v2");
        library.find(to_device, "cuMemcpyHtoD_v2");
        library.find(copy, "cuMemcpyDtoDAsync_v2");
        library.find(load_module, "cuModuleLoadDataEx");
        library.find(find_kernel, "cuModuleGetFunction");
        library.find(launch, "cuLaunchKernel");
        library.find(make_event, "cuEventCreate");
        library.find(record_event, "cuEventRecord");
        library.find(await_event, "cuEventSynchronize");
        library.find(elapsed_ms, "cuEventElapsedTime");
    }

    void check(int status, const char* what) const {
        if (status != 0) throw Failure(std::string(what) + ": " + words(status));
    }

    std::string words(int status) const {
        const char* name = nullptr;
        const char* text = nullptr;
        error_name(status, &name);
        error_words(status, &text);
        return std::string(name ? name : "an unknown error") + " (" + std::to_string(status) +
               (text ? std::string(", ") + text : "") + ")";
    }
};

}  // namespace podium
