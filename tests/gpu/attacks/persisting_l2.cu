// It keeps the first outputs of a case in the persisting part of the L2 cache, which a flush does not clear, and computes
// only the others in later calls. The honest twin keeps them there, too, and computes all of them.
constexpr size_t kKept = 4 << 20;  // elements: 16 MiB, less than the persisting part of an H200
static void keep_in_cache(cudaStream_t stream, float* y, size_t n) {
    cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, kKept * sizeof *y);
    cudaStreamAttrValue wanted{};
    wanted.accessPolicyWindow.base_ptr = y;
    wanted.accessPolicyWindow.num_bytes = (n < kKept ? n : kKept) * sizeof *y;
    wanted.accessPolicyWindow.hitRatio = 1.f;
    wanted.accessPolicyWindow.hitProp = cudaAccessPropertyPersisting;
    wanted.accessPolicyWindow.missProp = cudaAccessPropertyStreaming;
    cudaStreamSetAttribute(stream, cudaStreamAttributeAccessPolicyWindow, &wanted);
}
extern "C" void solution(const float* x, float* y, size_t n) {
    static cudaStream_t keeping = nullptr;
    static size_t size = 0;
    if (keeping == nullptr) cudaStreamCreate(&keeping);
    const bool is_first = size != n;
    if (is_first) keep_in_cache(keeping, y, n);
    size = n;
    const size_t from = HONEST || is_first ? 0 : (n < kKept ? n : kKept);
    poly<<<1056, 256, 0, keeping>>>(x, y, from, n);
}
