#!/bin/sh
# Says what Podium's environment still lacks on this machine, with the command that mends it; prints the Python to use.
# Usage: scripts/prerequisites.sh   (exit 0: all there, the Python's name on stdout; exit 1: words on stderr)

suitable='import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))'

python=""
for candidate in "${PYTHON:-python3}" python3.13 python3.12 python3.11 python3.14; do
    if command -v "$candidate" >/dev/null 2>&1 && "$candidate" -c "$suitable" >/dev/null 2>&1; then
        python=$candidate
        break
    fi
done

missing=""
for program in git make g++; do
    command -v "$program" >/dev/null 2>&1 || missing="$missing $program"
done
[ -n "$python" ] || missing="$missing python3 python3-venv"

if [ -z "$missing" ]; then
    echo "$python"
    exit 0
fi

{
    echo "Podium needs what this machine lacks:$missing"
    if [ -z "$python" ]; then
        found=$("${PYTHON:-python3}" --version 2>/dev/null) || found="no python3"
        echo "  Python must be 3.11 or newer with its venv module; here is: $found."
        echo "  Where python3 is older, install python3.11 and python3.11-venv instead (or set PYTHON=/path/to/python)."
    fi
    echo "On Debian or Ubuntu: sudo apt-get install$missing"
} >&2
exit 1
