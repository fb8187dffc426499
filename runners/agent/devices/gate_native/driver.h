// Keeps CUDA's driver open while no program of a contestant does.
#pragma once

namespace podium {

// In a child of this process that ends with it: a driver that hangs must not hang the porter. Without a driver nothing
// happens.
//
// What the first process to open a GPU waits for, and the last one to leave it, nobody else does: a start takes 0.1 s
// less beside one that only ever called cuInit, and an end 0.04 s (docs/benchmarks.md). Such a one makes no context, so
// it takes no memory on the device and is never scheduled there.
void keep_driver_open();

}  // namespace podium
