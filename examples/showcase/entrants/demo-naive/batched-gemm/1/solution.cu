#include <cublas_v2.h>

#include <vector>

#include "batched_gemm.h"

// The batch as three arrays of pointers, made anew and copied for every call.
void batched_gemm(const float* a, const float* b, float* c, int m, int n, int k, int batch) {
    static cublasHandle_t handle = nullptr;
    if (handle == nullptr) cublasCreate(&handle);
    std::vector<const float*> inputs(2 * size_t(batch));
    std::vector<float*> outputs(batch);
    for (int i = 0; i < batch; ++i) {
        inputs[i] = a + size_t(i) * m * k;
        inputs[batch + i] = b + size_t(i) * k * n;
        outputs[i] = c + size_t(i) * m * n;
    }
    const float** on_device = nullptr;
    const size_t pointers = 3 * size_t(batch);
    cudaMalloc(&on_device, pointers * sizeof(float*));
    float** outputs_on_device = const_cast<float**>(on_device + 2 * size_t(batch));
    cudaMemcpy(on_device, inputs.data(), inputs.size() * sizeof(float*), cudaMemcpyHostToDevice);
    cudaMemcpy(outputs_on_device, outputs.data(), outputs.size() * sizeof(float*), cudaMemcpyHostToDevice);
    const float one = 1.0f, zero = 0.0f;
    cublasSgemmBatched(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, m, k, &one, on_device + batch, n, on_device, k, &zero,
                       outputs_on_device, n, batch);
    cudaDeviceSynchronize();
    cudaFree(on_device);
}
