// What the driver's calls have to do with the run's turns at the gate: which wait for one, and which keep it.
#pragma once

#include <cupti.h>

#include <string_view>

namespace podium {

// Notes what the driver's function with this name does; whether its calls must be told to `take_turn`.
bool learn_turns(CUpti_CallbackId id, std::string_view name);

// At the beginning and at the end of a call of the driver. May return late.
void take_turn(CUpti_CallbackId id, const CUpti_CallbackData* call);

// Where copies are what is timed.
void let_copies_need_turns();

}  // namespace podium
