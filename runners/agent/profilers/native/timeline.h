// A process's work by launch time. The reader uses it to add work to ranges of other processes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "activity.h"

namespace podium {

struct Slice {
    std::uint64_t launches = 0, kernel_ns = 0;
    std::uint64_t copy_ns = 0, copies = 0, copied_bytes = 0;
    std::uint64_t fill_ns = 0;
    std::uint64_t outside_launches = 0, outside_ns = 0;      // the part launched while this process had no range open
    std::uint64_t uploaded_bytes = 0, downloaded_bytes = 0;  // likewise: copied from and to the host

    void operator+=(const Slice& other) {
        launches += other.launches, kernel_ns += other.kernel_ns;
        copy_ns += other.copy_ns, copies += other.copies, copied_bytes += other.copied_bytes;
        fill_ns += other.fill_ns;
        outside_launches += other.outside_launches, outside_ns += other.outside_ns;
        uploaded_bytes += other.uploaded_bytes, downloaded_bytes += other.downloaded_bytes;
    }
};

// Slices of equal width, from the origin on. When there would be more than MOST, pairs of neighbours are merged.
class Timeline {
public:
    explicit Timeline(Nanoseconds origin) : origin_(origin) {}

    Slice& at(Nanoseconds time) {
        const Nanoseconds since = time > origin_ ? time - origin_ : 0;
        while (since / width_ >= MOST) widen();
        const std::size_t index = since / width_;
        if (index >= slices_.size()) slices_.resize(index + 1);
        return slices_[index];
    }

    Nanoseconds origin() const { return origin_; }
    Nanoseconds width() const { return width_; }
    const std::vector<Slice>& slices() const { return slices_; }

private:
    static constexpr std::size_t MOST = 4096;

    void widen() {
        std::vector<Slice> wider((slices_.size() + 1) / 2);
        for (std::size_t i = 0; i < slices_.size(); ++i) wider[i / 2] += slices_[i];
        slices_.swap(wider);
        width_ *= 2;
    }

    Nanoseconds origin_;
    Nanoseconds width_ = 100'000;
    std::vector<Slice> slices_;
};

}  // namespace podium
