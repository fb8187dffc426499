// Stands for CUDA's driver where there is none: its calls for memory that processes share, on ordinary memory. Compiled
// against the real header, it sees the structures as the real driver would, and refuses what is not asked for rightly.
#include <cuda.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>

static const size_t grain = 2 << 20;

static bool right(const CUmemAllocationProp* asked) {
    return asked->type == CU_MEM_ALLOCATION_TYPE_PINNED && asked->location.type == CU_MEM_LOCATION_TYPE_DEVICE &&
           asked->requestedHandleTypes == CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR && asked->location.id == 0 &&
           asked->win32HandleMetaData == nullptr && asked->allocFlags.compressionType == 0 && asked->allocFlags.usage == 0;
}

static CUresult worked(bool it_did) { return it_did ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE; }

extern "C" {
CUresult CUDAAPI cuMemGetAllocationGranularity(size_t* bytes, const CUmemAllocationProp* asked,
                                               CUmemAllocationGranularity_flags option) {
    *bytes = grain;
    return worked(right(asked) && option == CU_MEM_ALLOC_GRANULARITY_MINIMUM);
}

CUresult CUDAAPI cuMemCreate(CUmemGenericAllocationHandle* handle, size_t size, const CUmemAllocationProp* asked,
                             unsigned long long flags) {
    const int file = memfd_create("device", MFD_CLOEXEC);
    *handle = static_cast<CUmemGenericAllocationHandle>(file);
    return worked(right(asked) && flags == 0 && size % grain == 0 && file >= 0 && ftruncate(file, size) == 0);
}

CUresult CUDAAPI cuMemExportToShareableHandle(void* made, CUmemGenericAllocationHandle handle,
                                              CUmemAllocationHandleType type, unsigned long long flags) {
    *static_cast<int*>(made) = dup(static_cast<int>(handle));
    return worked(type == CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR && flags == 0);
}

CUresult CUDAAPI cuMemImportFromShareableHandle(CUmemGenericAllocationHandle* handle, void* given,
                                                CUmemAllocationHandleType type) {
    *handle = static_cast<CUmemGenericAllocationHandle>(reinterpret_cast<uintptr_t>(given));
    return worked(type == CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
}

CUresult CUDAAPI cuMemAddressReserve(CUdeviceptr* address, size_t size, size_t alignment, CUdeviceptr wish,
                                     unsigned long long flags) {
    void* place = mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    *address = reinterpret_cast<CUdeviceptr>(place);
    return worked(alignment == 0 && wish == 0 && flags == 0 && place != MAP_FAILED);
}

CUresult CUDAAPI cuMemMap(CUdeviceptr address, size_t size, size_t offset, CUmemGenericAllocationHandle handle,
                          unsigned long long flags) {
    void* place = mmap(reinterpret_cast<void*>(address), size, PROT_NONE, MAP_SHARED | MAP_FIXED, static_cast<int>(handle), 0);
    return worked(offset == 0 && flags == 0 && place != MAP_FAILED);
}

CUresult CUDAAPI cuMemSetAccess(CUdeviceptr address, size_t size, const CUmemAccessDesc* access, size_t count) {
    const bool asked = count == 1 && access->location.type == CU_MEM_LOCATION_TYPE_DEVICE && access->location.id == 0 &&
                       access->flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    return worked(asked && mprotect(reinterpret_cast<void*>(address), size, PROT_READ | PROT_WRITE) == 0);
}
}
