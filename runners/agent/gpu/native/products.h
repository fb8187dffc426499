// Matrix products by cuBLAS, found at run time, to see how fast a device can be with each data type.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "device.h"

namespace podium {

constexpr int kTimed = 10, kWarmUps = 3;
constexpr int kReal32 = 0, kReal64 = 1, kReal16 = 2, kInt8 = 3, kInt32 = 10, kBrain16 = 14, kFloat8 = 28;  // cudaDataType
constexpr int kCompute32 = 68, kCompute64 = 70, kComputeInt32 = 72, kComputeTf32 = 77;  // cublasComputeType_t
constexpr int kPlain = 0, kTransposed = 1, kDefaultAlgorithm = -1, kSuccess = 0;
constexpr int kLtTransposeA = 3, kLtTransposeB = 4, kLtFastAccumulation = 25, kLtWorkspaceBytes = 1;
constexpr size_t kWorkspaceBytes = size_t{64} << 20;

// A data type's product: what goes in, what comes out, and which bits of noise make good numbers of it.
struct Product {
    const char* name;
    int input, output, compute;
    size_t input_bytes, output_bytes;
    int transpose_a;     // 8-bit products want their first matrix so
    uint64_t keep, set;  // random bits kept and bits set: ± a number from 0.5 to 1
};

inline const std::vector<Product>& products() {
    static const std::vector<Product> all = {
        {"fp64", kReal64, kReal64, kCompute64, 8, 8, kPlain, 0x800FFFFFFFFFFFFF, 0x3FE0000000000000},
        {"fp32", kReal32, kReal32, kCompute32, 4, 4, kPlain, 0x807FFFFF807FFFFF, 0x3F0000003F000000},
        {"tf32", kReal32, kReal32, kComputeTf32, 4, 4, kPlain, 0x807FFFFF807FFFFF, 0x3F0000003F000000},
        {"fp16", kReal16, kReal16, kCompute32, 2, 2, kPlain, 0x83FF83FF83FF83FF, 0x3800380038003800},
        {"bf16", kBrain16, kBrain16, kCompute32, 2, 2, kPlain, 0x807F807F807F807F, 0x3F003F003F003F00},
        {"int8", kInt8, kInt32, kComputeInt32, 1, 4, kTransposed, 0xFFFFFFFFFFFFFFFF, 0},
        {"fp8", kFloat8, kBrain16, kCompute32, 1, 2, kTransposed, 0x8787878787878787, 0x3030303030303030},
    };
    return all;
}

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
    // The newest cuBLAS that works, of the folders first and then of the system; null where there is none.
    static std::unique_ptr<Blas> open(const std::vector<std::string>& folders) {
        for (const char* version : {"13", "12"}) {
            for (const std::string& folder : folders)
                if (auto found = load(folder + "/", version)) return found;
            if (auto found = load("", version)) return found;
        }
        return nullptr;
    }

    std::string version() const {
        int number = 0;
        version_(handle_, &number);
        return "cuBLAS " + std::to_string(number / 10000) + "." + std::to_string(number / 100 % 100) + "." +
               std::to_string(number % 100);
    }

    // The status of starting C = A · B with n × n matrices. 8-bit floats go through cuBLASLt.
    int start(const Product& product, int64_t n, Address a, Address b, Address c, Address workspace) {
        if (product.input == kFloat8) return start_fp8(product, n, a, b, c, workspace);
        const int size = static_cast<int>(n);
        return multiply_(handle_, product.transpose_a, kPlain, size, size, size, factors_.one(product.compute), at(a),
                         product.input, size, at(b), product.input, size, factors_.zero(product.compute), at(c),
                         product.output, size, product.compute, kDefaultAlgorithm);
    }

private:
    struct Choice {  // cublasLtMatmulHeuristicResult_t
        uint64_t algorithm[8];
        size_t workspace_bytes;
        int status;
        float waves;
        int reserved[4];
    };

    static std::unique_ptr<Blas> load(const std::string& folder, const std::string& version) {
        // the light library first: the other one needs it, and finds it then by its name
        Handle light = dlopen((folder + "libcublasLt.so." + version).c_str(), RTLD_NOW | RTLD_GLOBAL);
        Handle whole = light ? dlopen((folder + "libcublas.so." + version).c_str(), RTLD_NOW) : nullptr;
        if (whole == nullptr) return nullptr;
        std::unique_ptr<Blas> made(new Blas(Library(whole), Library(light)));
        // one that is too new for the driver makes no handle; an older one may
        return made->create_(&made->handle_) == kSuccess ? std::move(made) : nullptr;
    }

    Blas(const Library& whole, const Library& light) {
        whole.find(create_, "cublasCreate_v2");
        whole.find(version_, "cublasGetVersion_v2");
        whole.find(multiply_, "cublasGemmEx");
        light.find(light_create_, "cublasLtCreate");
        light.find(make_order_, "cublasLtMatmulDescCreate");
        light.find(set_order_, "cublasLtMatmulDescSetAttribute");
        light.find(make_layout_, "cublasLtMatrixLayoutCreate");
        light.find(make_wish_, "cublasLtMatmulPreferenceCreate");
        light.find(set_wish_, "cublasLtMatmulPreferenceSetAttribute");
        light.find(choose_, "cublasLtMatmulAlgoGetHeuristic");
        light.find(light_multiply_, "cublasLtMatmul");
    }

    static void* at(Address address) { return reinterpret_cast<void*>(static_cast<uintptr_t>(address)); }

    int start_fp8(const Product& product, int64_t n, Address a, Address b, Address c, Address workspace) {
        if (const int status = order_ ? kSuccess : prepare_fp8(product, n); status != kSuccess) return status;
        return light_multiply_(light_, order_, factors_.f, at(a), layout_in_, at(b), layout_in_, factors_.f + 1, at(c),
                               layout_out_, at(c), layout_out_, choice_.algorithm, at(workspace), kWorkspaceBytes,
                               nullptr);
    }

    int prepare_fp8(const Product& product, int64_t n) {
        const int transposed = kTransposed, plain = kPlain;
        const int8_t fast = 1;
        const size_t workspace_bytes = kWorkspaceBytes;
        Handle wish = nullptr, order = nullptr;
        int n_found = 0;
        if (int s = light_create_(&light_)) return s;
        if (int s = make_order_(&order, product.compute, kReal32)) return s;
        if (int s = set_order_(order, kLtTransposeA, &transposed, sizeof transposed)) return s;
        if (int s = set_order_(order, kLtTransposeB, &plain, sizeof plain)) return s;
        if (int s = set_order_(order, kLtFastAccumulation, &fast, sizeof fast)) return s;
        if (int s = make_layout_(&layout_in_, product.input, n, n, n)) return s;
        if (int s = make_layout_(&layout_out_, product.output, n, n, n)) return s;
        if (int s = make_wish_(&wish)) return s;
        if (int s = set_wish_(wish, kLtWorkspaceBytes, &workspace_bytes, sizeof workspace_bytes)) return s;
        if (int s = choose_(light_, order, layout_in_, layout_in_, layout_out_, layout_out_, wish, 1, &choice_, &n_found))
            return s;
        if (n_found == 0) return choice_.status ? choice_.status : 15;  // not supported
        order_ = order;
        return kSuccess;
    }

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
