// Stands on PATH as `nvcc`: sets the target architecture, and compiles several sources side by side, from the object
// cache where it may. Whatever it does not wholly understand goes to the real nvcc as it is.
#pragma once

// `given` as in `main`; returns the exit status, or becomes another program.
int start_nvcc(char** given);
