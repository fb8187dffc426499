// The memory that a solution is given.
#pragma once

#include <cstdlib>
#include <cstring>
#include <new>

#include "channel.h"

namespace textbook {

inline void finish() {}

// Memory with the bytes of `block`, aligned to 256 bytes as on a GPU.
class Memory {
  public:
    explicit Memory(const Block& block) : size_(block.size()) {
        constexpr std::size_t alignment = 256;
        start_ = static_cast<unsigned char*>(std::aligned_alloc(alignment, (size_ / alignment + 1) * alignment));
        if (start_ == nullptr) throw std::bad_alloc();
        std::memcpy(start_, block.data(), size_);
    }
    Memory(const Memory&) = delete;
    Memory& operator=(const Memory&) = delete;
    ~Memory() { std::free(start_); }

    unsigned char* start() const { return start_; }

    Block content() const { return Block(start_, start_ + size_); }

  private:
    unsigned char* start_ = nullptr;
    std::size_t size_;
};

}  // namespace textbook
