// The streams on which this process may have unfinished work. If there are more than fit, `all_known` is false.
#pragma once

#include <cuda.h>

#include <atomic>
#include <cstddef>

namespace podium {

class Streams {
public:
    // Call before work is put on the stream. It is never null, because the default streams have their own handles.
    void note(CUstream stream) {
        // This handle means another stream on each thread.
        if (stream == CU_STREAM_PER_THREAD) return lose_count();
        for (auto& place : places_) {
            CUstream held = nullptr;
            if (place.load() == stream || place.compare_exchange_strong(held, stream) || held == stream) return;
        }
        lose_count();
    }

    // Call if work is put on an unknown stream.
    void lose_count() { lost_.store(true); }

    // Call before the stream is destroyed, because its handle becomes invalid.
    void forget(CUstream stream) {
        for (auto& place : places_) {
            CUstream held = stream;
            place.compare_exchange_strong(held, nullptr);
        }
    }

    // Call before a context and its streams are destroyed. Forgets the streams of all contexts.
    void forget_all() {
        for (auto& place : places_) place.store(nullptr);
    }

    bool all_known() const { return !lost_.load(); }

    template <class Test>
    bool all(Test test) const {
        for (const auto& place : places_)
            if (CUstream stream = place.load(); stream && !test(stream)) return false;
        return true;
    }

private:
    std::atomic<CUstream> places_[16] = {};
    std::atomic<bool> lost_{false};
};

}  // namespace podium
