// The kernels of podium-gpu as PTX text. Every parameter is 64 bits wide; buffers are counted in pairs of 8-byte words.
//
// The text declares an old PTX version and target, so that every driver since CUDA 9 compiles it for every GPU since
// Maxwell. Each thread walks through a buffer in steps of the whole grid.
#pragma once

#include <cstdint>
#include <string>

namespace podium {

constexpr int kChains = 8;      // independent chains of arithmetic in each thread: enough to fill the pipelines
constexpr int kFmaUnroll = 16;  // links of each chain in one turn of the loop
constexpr int kLogisticUnroll = 5;
constexpr uint32_t kGrowthBits = 0x407F5C29;  // 3.99f: chaotic, so one wrong bit changes all that follows

std::string all_kernels();

}  // namespace podium
