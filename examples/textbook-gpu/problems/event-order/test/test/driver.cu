// Calls event_order with a first stream that cannot go on before the function has returned.
#include <atomic>
#include <chrono>
#include <thread>

#include "driver.h"

// Repeated from the context on purpose: the driver includes nothing that a solution may replace.
void event_order(const int* input, int* middle, int* output, int count, cudaStream_t first, cudaStream_t second);

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

cudaStream_t new_stream() {
    cudaStream_t stream = nullptr;
    textbook::check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "making a stream");
    return stream;
}

void end(cudaStream_t stream) {
    textbook::check(cudaStreamSynchronize(stream), "a stream failed");
    textbook::check(cudaStreamDestroy(stream), "ending a stream");
}

void call_before_the_gate_opens(const int* input, int* middle, int* output, int count) {
    if (has_waited) throw std::runtime_error("an earlier call waited for a stream");
    Gate gate;
    const cudaStream_t first = new_stream(), second = new_stream();
    textbook::check(cudaLaunchHostFunc(first, wait_at, &gate), "closing the gate");
    event_order(input, middle, output, count, first, second);
    std::this_thread::sleep_for(20ms);
    const bool second_waits = cudaStreamQuery(second) == cudaErrorNotReady;
    gate.is_open = true;
    end(second);
    end(first);
    has_waited = gate.was_given_up;
    if (has_waited) throw std::runtime_error("the function waited for a stream");
    if (!second_waits) throw std::runtime_error("the second stream did not wait for the first");
}

}  // namespace

int main() {
    setenv("CUDA_MODULE_LOADING", "EAGER", 1);  // loading a kernel later could wait for the stream
    return textbook::serve(call_before_the_gate_opens);
}
