// How harness and contestant talk: lists of byte blocks over a pipe, each with its length in front.
#pragma once

#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace textbook {

using Block = std::vector<unsigned char>;
using Blocks = std::vector<Block>;

constexpr int request_fd = 3;
constexpr int reply_fd = 4;

// Every array lies between two guards of this size, which travel with it.
constexpr std::size_t guard_bytes = 4096;

inline bool write_all(int fd, const void* bytes, std::size_t size) {
    const char* next = static_cast<const char*>(bytes);
    while (size > 0) {
        const ssize_t written = write(fd, next, size);
        if (written <= 0) return false;
        next += written;
        size -= static_cast<std::size_t>(written);
    }
    return true;
}

inline bool read_all(int fd, void* bytes, std::size_t size) {
    char* next = static_cast<char*>(bytes);
    while (size > 0) {
        const ssize_t got = read(fd, next, size);
        if (got <= 0) return false;
        next += got;
        size -= static_cast<std::size_t>(got);
    }
    return true;
}

// False if the other side has gone.
inline bool send(int fd, const Blocks& blocks) {
    const std::uint64_t count = blocks.size();
    if (!write_all(fd, &count, sizeof count)) return false;
    for (const Block& block : blocks) {
        const std::uint64_t size = block.size();
        if (!write_all(fd, &size, sizeof size) || !write_all(fd, block.data(), block.size())) return false;
    }
    return true;
}

// False if the other side has gone or says what no honest side would.
inline bool receive(int fd, Blocks& blocks) {
    constexpr std::uint64_t most_blocks = 64, most_bytes = std::uint64_t{1} << 28;
    std::uint64_t count = 0;
    if (!read_all(fd, &count, sizeof count) || count > most_blocks) return false;
    blocks.assign(count, {});
    for (Block& block : blocks) {
        std::uint64_t size = 0;
        if (!read_all(fd, &size, sizeof size) || size > most_bytes) return false;
        block.resize(size);
        if (!read_all(fd, block.data(), block.size())) return false;
    }
    return true;
}

}  // namespace textbook
