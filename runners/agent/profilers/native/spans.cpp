// Kernel spans: the time from the start of the first kernel, copy or memset of a call to the end of its last one, gaps
// included. The contestant's process of a function problem loads the library for it, and its recorder stays off.
#include <cupti.h>

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "lock.h"

namespace podium {
namespace {

constexpr std::size_t BUFFER_BYTES = 1 << 20;
constexpr std::size_t ALIGNMENT = 8;
constexpr int MOST_LOOKS = 20;
constexpr useconds_t BEFORE_A_LOOK_US = 1000;

// What CUPTI has delivered. Its own thread may deliver records, too.
class Span {
public:
    void forget() {
        const Guard guard(lock_);
        first_ns_ = UINT64_MAX;
        last_ns_ = 0;
        is_complete_ = true;
    }
    void miss() {
        const Guard guard(lock_);
        is_complete_ = false;
    }
    void include(std::uint64_t start_ns, std::uint64_t end_ns) {
        const Guard guard(lock_);
        first_ns_ = std::min(first_ns_, start_ns);
        last_ns_ = std::max(last_ns_, end_ns);
    }
    bool has_any() {
        const Guard guard(lock_);
        return last_ns_ > 0;
    }
    float ms() {
        const Guard guard(lock_);
        return is_complete_ && last_ns_ > first_ns_ ? static_cast<float>(last_ns_ - first_ns_) / 1e6f : 0;
    }

private:
    Mutex lock_;
    std::uint64_t first_ns_ = UINT64_MAX, last_ns_ = 0;
    bool is_complete_ = true;
} span;

// CUPTI gives the time 0 to a record that it could not complete.
template <typename Record>
void include(const CUpti_Activity* activity) {
    const auto* record = reinterpret_cast<const Record*>(activity);
    if (record->start == 0 || record->end < record->start) span.miss();
    else span.include(record->start, record->end);
}

// Later versions of these records only add members at their ends.
void look_at(const CUpti_Activity* activity) {
    switch (activity->kind) {
        case CUPTI_ACTIVITY_KIND_KERNEL:
        case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL: return include<CUpti_ActivityKernel4>(activity);
        case CUPTI_ACTIVITY_KIND_MEMCPY: return include<CUpti_ActivityMemcpy>(activity);
        case CUPTI_ACTIVITY_KIND_MEMSET: return include<CUpti_ActivityMemset>(activity);
        default: return;
    }
}

void CUPTIAPI buffer_requested(std::uint8_t** buffer, std::size_t* size, std::size_t* most_records) {
    *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(ALIGNMENT, BUFFER_BYTES));
    *size = *buffer ? BUFFER_BYTES : 0;
    *most_records = 0;
}

void CUPTIAPI buffer_completed(CUcontext context, std::uint32_t stream, std::uint8_t* buffer, std::size_t, std::size_t filled) {
    CUpti_Activity* activity = nullptr;
    while (cuptiActivityGetNextRecord(buffer, filled, &activity) == CUPTI_SUCCESS) look_at(activity);
    std::size_t dropped = 0;
    if (cuptiActivityGetNumDroppedRecords(context, stream, &dropped) == CUPTI_SUCCESS && dropped > 0) span.miss();
    std::free(buffer);
}

}  // namespace
}  // namespace podium

extern "C" {

// Returns 1 if CUPTI records this process's work on the device from here on.
__attribute__((visibility("default"))) int podium_spans_open() {
    if (cuptiActivityRegisterCallbacks(podium::buffer_requested, podium::buffer_completed) != CUPTI_SUCCESS) return 0;
    for (const CUpti_ActivityKind kind :
         {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMSET})
        if (cuptiActivityEnable(kind) != CUPTI_SUCCESS) return 0;
    return 1;
}

// Forgets the device's work so far, which must be done.
__attribute__((visibility("default"))) void podium_spans_begin() {
    cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
    podium::span.forget();
}

// The span of the work since the beginning in milliseconds, once the device is done; 0 if it is not known. CUPTI may
// complete records a little later than the device does, and an unforced flush waits for buffers with such a record.
__attribute__((visibility("default"))) float podium_spans_end() {
    for (int looks = 0; looks < podium::MOST_LOOKS && !podium::span.has_any(); ++looks) {
        usleep(podium::BEFORE_A_LOOK_US);
        if (cuptiActivityFlushAll(0) != CUPTI_SUCCESS) return 0;
    }
    return cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED) == CUPTI_SUCCESS ? podium::span.ms() : 0;
}

}  // extern "C"
