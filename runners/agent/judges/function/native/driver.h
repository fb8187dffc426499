// The few calls of the CUDA driver that the clocks need, on the context that torch has made. Loaded at run time.
#pragma once

#include <cstdint>
#include <cstring>
#include <dlfcn.h>

namespace gpu {

using Pointer = unsigned long long;

struct Copy2D {  // CUDA_MEMCPY2D
    size_t from_x, from_y;
    int from_type;
    const void* from_host;
    Pointer from;
    void* from_array;
    size_t from_pitch;
    size_t to_x, to_y;
    int to_type;
    void* to_host;
    Pointer to;
    void* to_array;
    size_t to_pitch, width, height;
};

inline int (*copy_async)(Pointer, Pointer, size_t, void*) = nullptr;
inline int (*copy_2d_async)(const Copy2D*, void*) = nullptr;
inline int (*fill_async)(Pointer, unsigned char, size_t, void*) = nullptr;
inline int (*fill_2d_async)(Pointer, size_t, unsigned char, size_t, size_t, void*) = nullptr;
inline int (*copy_in)(Pointer, const void*, size_t) = nullptr;
inline int (*synchronize)() = nullptr;
inline int (*stream_create)(void**, unsigned) = nullptr;
inline int (*stream_finish)(void*) = nullptr;
inline int (*event_create)(void**, unsigned) = nullptr;
inline int (*event_record)(void*, void*) = nullptr;
inline int (*event_query)(void*) = nullptr;
inline int (*elapsed)(float*, void*, void*) = nullptr;
inline int (*write_word)(void*, Pointer, uint32_t, unsigned) = nullptr;
inline int (*wait_word)(void*, Pointer, uint32_t, unsigned) = nullptr;
inline int (*allocate)(Pointer*, size_t) = nullptr;
inline int (*module_load)(void**, const void*) = nullptr;
inline int (*module_function)(void**, void*, const char*) = nullptr;
inline int (*launch)(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*, void**,
                     void**) = nullptr;

constexpr int kNotReady = 600;  // CUDA_ERROR_NOT_READY
constexpr unsigned kEqual = 1;  // CU_STREAM_WAIT_VALUE_EQ
inline void* stream = nullptr;  // in which arrays are written and copied: the default one, but for a hand-off

inline Pointer at(const void* pointer) { return reinterpret_cast<Pointer>(pointer); }

inline bool copy(void* to, const void* from, uint64_t size) {
    return size == 0 || copy_async(at(to), at(from), size, stream) == 0;
}

inline bool fill(void* to, uint32_t byte, uint64_t size) {
    return size == 0 || fill_async(at(to), static_cast<unsigned char>(byte), size, stream) == 0;
}

inline bool copy_rows(void* to, const void* from, uint64_t pitch, uint64_t width, uint64_t rows) {
    Copy2D order{};
    order.from_type = order.to_type = 2;  // device memory
    order.from = at(from);
    order.to = at(to);
    order.from_pitch = order.to_pitch = pitch;
    order.width = width;
    order.height = rows;
    return copy_2d_async(&order, stream) == 0;
}

inline bool fill_rows(void* to, uint64_t pitch, uint32_t byte, uint64_t width, uint64_t rows) {
    return fill_2d_async(at(to), pitch, static_cast<unsigned char>(byte), width, rows, stream) == 0;
}

inline bool finish() { return synchronize() == 0; }

template <typename Function>
bool find(void* library, const char* name, Function& function, char* words, uint64_t size) {
    function = reinterpret_cast<Function>(dlsym(library, name));
    if (function == nullptr) strncpy(words, name, size - 1);
    return function != nullptr;
}

// 1 if the driver is there; else 0 and `words` names what is missing.
inline int open(char* words, uint64_t size) {
    void* library = dlopen("libcuda.so.1", RTLD_NOW);
    if (library == nullptr) {
        strncpy(words, "libcuda.so.1", size - 1);
        return 0;
    }
    return find(library, "cuMemcpyDtoDAsync_v2", copy_async, words, size) &&
           find(library, "cuMemcpy2DAsync_v2", copy_2d_async, words, size) &&
           find(library, "cuMemsetD8Async", fill_async, words, size) &&
           find(library, "cuMemsetD2D8Async", fill_2d_async, words, size) &&
           find(library, "cuMemcpyHtoD_v2", copy_in, words, size) &&
           find(library, "cuCtxSynchronize", synchronize, words, size) &&
           find(library, "cuStreamCreate", stream_create, words, size) &&
           find(library, "cuStreamSynchronize", stream_finish, words, size) &&
           find(library, "cuEventCreate", event_create, words, size) &&
           find(library, "cuEventRecord", event_record, words, size) &&
           find(library, "cuEventQuery", event_query, words, size) &&
           find(library, "cuEventElapsedTime", elapsed, words, size) &&
           find(library, "cuStreamWriteValue32_v2", write_word, words, size) &&
           find(library, "cuStreamWaitValue32_v2", wait_word, words, size) &&
           find(library, "cuMemAlloc_v2", allocate, words, size) &&
           find(library, "cuModuleLoadData", module_load, words, size) &&
           find(library, "cuModuleGetFunction", module_function, words, size) &&
           find(library, "cuLaunchKernel", launch, words, size);
}

}  // namespace gpu
