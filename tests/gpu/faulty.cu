// Writes where nothing is: the driver reports it as an Xid.
__global__ void crash() { *reinterpret_cast<volatile int*>(16) = 1; }
int main() {
    crash<<<1, 1>>>();
    return cudaDeviceSynchronize() == cudaSuccess ? 0 : 3;
}
