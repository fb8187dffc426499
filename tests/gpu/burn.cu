// burn BUSY_MS REST_MS TIMES: works for BUSY_MS on all multiprocessors, rests on the host, TIMES over; prints the work.
#include <cstdio>
#include <cstdlib>
#include <unistd.h>

__global__ void work(unsigned long long ns, float* sink) {
    unsigned long long begin, now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin));
    float a = threadIdx.x, b = 1.0001f;
    do {
        for (int i = 0; i < 256; ++i) a = fmaf(a, b, 0.5f);
        asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    } while (now - begin < ns);
    if (a == 42.0f) *sink = a;
}

int main(int, char** words) {
    double busy_ms = atof(words[1]), rest_ms = atof(words[2]);
    cudaEvent_t begin, end;
    if (cudaEventCreate(&begin) != cudaSuccess || cudaEventCreate(&end) != cudaSuccess) return 1;
    double total_ms = 0;
    for (int time = 0; time < atoi(words[3]); ++time) {
        usleep(static_cast<unsigned>(rest_ms * 1e3));
        cudaEventRecord(begin);
        work<<<1056, 256>>>(static_cast<unsigned long long>(busy_ms * 1e6), nullptr);
        cudaEventRecord(end);
        if (cudaEventSynchronize(end) != cudaSuccess) return 2;
        float ms = 0;
        cudaEventElapsedTime(&ms, begin, end);
        total_ms += ms;
    }
    printf("%.3f\n", total_ms);
    return 0;
}
