// What ordinary programs ask of the driver beyond a launch.
#include <cstdio>
#define MUST(call) if (cudaError_t e = (call)) { printf("%s: %s\n", #call, cudaGetErrorString(e)); return 1; }

__global__ void add(int* at, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) at[i] += 1;
}

int main() {
    const int n = 1 << 20;
    int count = 0, *managed, *pinned, *pooled;
    MUST(cudaGetDeviceCount(&count));
    MUST(cudaMallocManaged(&managed, n * sizeof(int)));
    for (int i = 0; i < n; ++i) managed[i] = i;
    add<<<n / 256, 256>>>(managed, n);
    MUST(cudaDeviceSynchronize());
    for (int i = 0; i < n; ++i) if (managed[i] != i + 1) { puts("managed memory is wrong"); return 1; }
    cudaStream_t stream;
    MUST(cudaStreamCreate(&stream));
    MUST(cudaMallocHost(&pinned, n * sizeof(int)));
    for (int i = 0; i < n; ++i) pinned[i] = 7;
    MUST(cudaMallocAsync(&pooled, n * sizeof(int), stream));
    cudaGraph_t graph;
    cudaGraphExec_t ready;
    MUST(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    MUST(cudaMemcpyAsync(pooled, pinned, n * sizeof(int), cudaMemcpyHostToDevice, stream));
    add<<<n / 256, 256, 0, stream>>>(pooled, n);
    MUST(cudaMemcpyAsync(pinned, pooled, n * sizeof(int), cudaMemcpyDeviceToHost, stream));
    MUST(cudaStreamEndCapture(stream, &graph));
    MUST(cudaGraphInstantiate(&ready, graph, 0));
    MUST(cudaGraphLaunch(ready, stream));
    MUST(cudaStreamSynchronize(stream));
    for (int i = 0; i < n; ++i) if (pinned[i] != 8) { puts("pinned memory is wrong"); return 1; }
    printf("%d GPU, all well\n", count);
    return 0;
}
