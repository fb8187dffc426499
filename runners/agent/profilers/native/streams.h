// The streams on which this process may have work that nobody has waited for: as many as fit, else none can be told.
#pragma once

#include <cuda.h>

#include <atomic>
#include <cstddef>

namespace podium {

class Streams {
public:
    // Before work is put on the stream, which is never null: the default streams have handles of their own.
    void note(CUstream stream) {
        // Which stream this one is depends on the thread that asks.
        if (stream == CU_STREAM_PER_THREAD) return lose_count();
        for (auto& place : places_) {
            CUstream held = nullptr;
            if (place.load() == stream || place.compare_exchange_strong(held, stream) || held == stream) return;
        }
        lose_count();
    }

    // Work was put on a stream that is not known.
    void lose_count() { lost_.store(true); }

    // Before the stream is destroyed: its handle means nothing then.
    void forget(CUstream stream) {
        for (auto& place : places_) {
            CUstream held = stream;
            place.compare_exchange_strong(held, nullptr);
        }
    }

    // Before all are destroyed with their context.
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
