// Connects the driver's calls with the run's turns at the gate: some calls wait for a turn, some keep it.
#pragma once

#include <cupti.h>

#include <string_view>

namespace podium {

// Notes the traits of the driver's function with this name. Returns whether its calls must be passed to `take_turn`.
bool learn_turns(CUpti_CallbackId id, std::string_view name);

// Call at the beginning and at the end of a driver call. It may wait for a turn.
void take_turn(CUpti_CallbackId id, const CUpti_CallbackData* call);

// Call this first if the benchmark's time includes copies: long copies then need a turn, too.
void let_copies_need_turns();

}  // namespace podium
