// Matrix products by cuBLAS, which is found at run time. They measure the device's peak for each data type.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "driver.h"

namespace podium {

constexpr int kTimed = 10, kWarmUps = 3;
constexpr int kReal32 = 0, kReal64 = 1, kReal16 = 2, kInt8 = 3, kInt32 = 10, kBrain16 = 14,
              kFloat8 = 28;                                                             // cudaDataType
constexpr int kCompute32 = 68, kCompute64 = 70, kComputeInt32 = 72, kComputeTf32 = 77;  // cublasComputeType_t
constexpr int kPlain = 0, kTransposed = 1, kDefaultAlgorithm = -1, kSuccess = 0;
constexpr int kLtTransposeA = 3, kLtTransposeB = 4, kLtFastAccumulation = 25, kLtWorkspaceBytes = 1;
constexpr size_t kWorkspaceBytes = size_t{64} << 20;

// The product of one data type: its input and output types, and the masks that turn random bits into normal numbers.
struct Product {
    const char* name;
    int input, output, compute;
    size_t input_bytes, output_bytes;
    int transpose_a;     // cuBLAS needs a transposed first matrix for 8-bit products
    uint64_t keep, set;  // random bits kept and bits set: ± a number from 0.5 to 1
};

const std::vector<Product>& products();

// alpha = 1 and beta = 0 in the type that a product is summed in.
struct Factors {
    double d[2] = {1, 0};
    float f[2] = {1, 0};
    int32_t i[2] = {1, 0};

    const void* one(int compute) const { return at(compute, 0); }
    const void* zero(int compute) const { return at(compute, 1); }

private:
    const void* at(int compute, int k) const {
        if (compute == kCompute64) return &d[k];
        if (compute == kComputeInt32) return &i[k];
        return &f[k];
    }
};

class Blas {
public:
    // The newest cuBLAS that works; of each version, the one in `folders` before the system's. Null if there is none.
    static std::unique_ptr<Blas> open(const std::vector<std::string>& folders);

    std::string version() const;

    // Starts C = A · B with n × n matrices and returns cuBLAS's status. 8-bit floats go through cuBLASLt.
    int start(const Product& product, int64_t n, Address a, Address b, Address c, Address workspace);

private:
    struct Choice {  // cublasLtMatmulHeuristicResult_t
        uint64_t algorithm[8];
        size_t workspace_bytes;
        int status;
        float waves;
        int reserved[4];
    };

    static std::unique_ptr<Blas> load(const std::string& folder, const std::string& version);
    Blas(const Library& whole, const Library& light);
    static void* at(Address address) { return reinterpret_cast<void*>(static_cast<uintptr_t>(address)); }

    int start_fp8(const Product& product, int64_t n, Address a, Address b, Address c, Address workspace);
    int prepare_fp8(const Product& product, int64_t n);

    const Factors factors_;
    Handle handle_ = nullptr, light_ = nullptr, order_ = nullptr, layout_in_ = nullptr, layout_out_ = nullptr;
    Choice choice_ = {};
    int (*create_)(Handle*) = nullptr;
    int (*version_)(Handle, int*) = nullptr;
    int (*multiply_)(Handle, int, int, int, int, int, const void*, const void*, int, int, const void*, int, int,
                     const void*, void*, int, int, int, int) = nullptr;
    int (*light_create_)(Handle*) = nullptr;
    int (*make_order_)(Handle*, int, int) = nullptr;
    int (*set_order_)(Handle, int, const void*, size_t) = nullptr;
    int (*make_layout_)(Handle*, int, uint64_t, uint64_t, int64_t) = nullptr;
    int (*make_wish_)(Handle*) = nullptr;
    int (*set_wish_)(Handle, int, const void*, size_t) = nullptr;
    int (*choose_)(Handle, Handle, Handle, Handle, Handle, Handle, Handle, int, Choice*, int*) = nullptr;
    int (*light_multiply_)(Handle, Handle, const void*, const void*, Handle, const void*, Handle, const void*,
                           const void*, Handle, void*, Handle, const void*, void*, size_t, Handle) = nullptr;
};

}  // namespace podium
