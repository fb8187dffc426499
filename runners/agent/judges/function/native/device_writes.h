// How the checker writes a contestant's arrays on a GPU: poisoned outputs, and inputs whose secret lines come last.
#pragma once

#include "call.h"
#include "driver.h"

namespace {

constexpr uint64_t kGpuLine = 128, kGpuScatter = 256;  // one line of every kGpuScatter is secret

// The secret lines are one column of a table of kGpuScatter lines a row: one strided copy.
struct Column {
    uint64_t at, rows;
};

Column secret_column(const Region& region, uint64_t secret) {
    const uint64_t pitch = kGpuScatter * kGpuLine, rows = region.size / pitch;
    return {next_random(secret) % kGpuScatter * kGpuLine, rows};
}

bool write_on_gpu(const Region& region, const Call& call) {
    if (region.content == nullptr) return gpu::fill(region.shared, call.poison, region.size);
    const Column column = secret_column(region, secret_of(region, call));
    if (column.rows == 0) return gpu::fill(region.shared, call.poison, region.size);
    return gpu::copy(region.shared, region.content, region.size) &&
           gpu::fill_rows(static_cast<char*>(region.shared) + column.at, kGpuScatter * kGpuLine, call.poison, kGpuLine,
                          column.rows);
}

bool complete_on_gpu(const Region& region, const Call& call) {
    if (region.content == nullptr) return true;
    const Column column = secret_column(region, secret_of(region, call));
    if (column.rows == 0) return gpu::copy(region.shared, region.content, region.size);
    return gpu::copy_rows(static_cast<char*>(region.shared) + column.at,
                          static_cast<const char*>(region.content) + column.at, kGpuScatter * kGpuLine, kGpuLine,
                          column.rows);
}

bool take_output_on_gpu(const Region& region) {
    return region.copy == nullptr || gpu::copy(region.copy, region.shared, region.size);
}

}  // namespace
