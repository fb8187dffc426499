// Prints to stderr as what the kernel counts this process's memory, and how much of it lies behind device files.
#pragma once
#include <cstdio>
#include <cstring>

inline void tell_resident() {
    char line[4096];
    if (FILE* status = fopen("/proc/self/status", "r")) {
        while (fgets(line, sizeof line, status))
            if (!strncmp(line, "Rss", 3)) fputs(line, stderr);
        fclose(status);
    }
    long kib = 0, here = 0;
    bool device = false;
    if (FILE* maps = fopen("/proc/self/smaps", "r")) {
        while (fgets(line, sizeof line, maps))
            if (line[0] < 'A' || line[0] > 'Z') device = strstr(line, "/dev/nvidia") != nullptr;
            else if (device && sscanf(line, "Rss: %ld", &here) == 1) kib += here;
        fclose(maps);
    }
    fprintf(stderr, "behind /dev/nvidia*: %ld kB\n", kib);
}
