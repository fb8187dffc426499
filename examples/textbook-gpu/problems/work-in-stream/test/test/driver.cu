// Calls work_in_stream with a stream that cannot go on before the function has returned.
#include <atomic>
#include <chrono>
#include <thread>

#include "driver.h"

// Repeated from the context on purpose: the driver includes nothing that a solution may replace.
void work_in_stream(const int* values, int* scaled, int* positives, int count, cudaStream_t stream);

namespace {

using namespace std::chrono_literals;

bool has_waited = false;  // after one such call the others fail at once

struct Gate {
    std::atomic<bool> is_open{false};
    std::atomic<bool> was_given_up{false};
};

// Holds up a stream until the gate opens; gives up after five seconds.
void wait_at(void* gate_pointer) {
    Gate& gate = *static_cast<Gate*>(gate_pointer);
    for (int i = 0; i < 5000 && !gate.is_open; ++i) std::this_thread::sleep_for(1ms);
    gate.was_given_up = !gate.is_open;
}

// Work in other streams has time to read `values` too early before the gate opens.
void call_before_the_gate_opens(int* values, int* scaled, int* positives, int count) {
    const std::size_t bytes = count * sizeof *values;
    if (has_waited) throw std::runtime_error("an earlier call waited for the stream");
    Gate gate;
    cudaStream_t stream = nullptr;
    const textbook::Memory later{textbook::Block(bytes + 1)};
    textbook::check(cudaMemcpy(later.start(), values, bytes, cudaMemcpyDeviceToDevice), "copying");
    textbook::check(cudaMemset(values, 0x55, bytes), "overwriting");
    textbook::check(cudaDeviceSynchronize(), "waiting");
    textbook::check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "making a stream");
    textbook::check(cudaLaunchHostFunc(stream, wait_at, &gate), "closing the gate");
    textbook::check(cudaMemcpyAsync(values, later.start(), bytes, cudaMemcpyDeviceToDevice, stream), "copying later");
    work_in_stream(values, scaled, positives, count, stream);
    std::this_thread::sleep_for(20ms);
    gate.is_open = true;
    textbook::check(cudaStreamSynchronize(stream), "the stream failed");
    textbook::check(cudaStreamDestroy(stream), "ending the stream");
    has_waited = gate.was_given_up;
    if (has_waited) throw std::runtime_error("the function waited for the stream");
}

}  // namespace

int main() {
    setenv("CUDA_MODULE_LOADING", "EAGER", 1);  // loading a kernel later could wait for the stream
    return textbook::serve(call_before_the_gate_opens);
}
