#include "products.h"

#include <cstdint>

namespace podium {

const std::vector<Product>& products() {
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

std::unique_ptr<Blas> Blas::open(const std::vector<std::string>& folders) {
    for (const char* version : {"13", "12"}) {
        for (const std::string& folder : folders)
            if (auto found = load(folder + "/", version)) return found;
        if (auto found = load("", version)) return found;
    }
    return nullptr;
}

std::string Blas::version() const {
    int number = 0;
    version_(handle_, &number);
    return "cuBLAS " + std::to_string(number / 10000) + "." + std::to_string(number / 100 % 100) + "." +
           std::to_string(number % 100);
}

int Blas::start(const Product& product, int64_t n, Address a, Address b, Address c, Address workspace) {
    if (product.input == kFloat8) return start_fp8(product, n, a, b, c, workspace);
    const int size = static_cast<int>(n);
    return multiply_(handle_, product.transpose_a, kPlain, size, size, size, factors_.one(product.compute), at(a),
                     product.input, size, at(b), product.input, size, factors_.zero(product.compute), at(c),
                     product.output, size, product.compute, kDefaultAlgorithm);
}

std::unique_ptr<Blas> Blas::load(const std::string& folder, const std::string& version) {
    // cublasLt first: cublas needs it, and then finds it by its name
    Handle light = dlopen((folder + "libcublasLt.so." + version).c_str(), RTLD_NOW | RTLD_GLOBAL);
    Handle whole = light ? dlopen((folder + "libcublas.so." + version).c_str(), RTLD_NOW) : nullptr;
    if (whole == nullptr) return nullptr;
    std::unique_ptr<Blas> made(new Blas(Library(whole), Library(light)));
    // a version that is too new for the driver makes no handle; an older one may work
    return made->create_(&made->handle_) == kSuccess ? std::move(made) : nullptr;
}

Blas::Blas(const Library& whole, const Library& light) {
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

int Blas::start_fp8(const Product& product, int64_t n, Address a, Address b, Address c, Address workspace) {
    if (const int status = order_ ? kSuccess : prepare_fp8(product, n); status != kSuccess) return status;
    return light_multiply_(light_, order_, factors_.f, at(a), layout_in_, at(b), layout_in_, factors_.f + 1, at(c),
                           layout_out_, at(c), layout_out_, choice_.algorithm, at(workspace), kWorkspaceBytes, nullptr);
}

int Blas::prepare_fp8(const Product& product, int64_t n) {
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

}  // namespace podium
