#!/bin/sh
# Runs a node that joins with the token in the file PODIUM_JOIN_TOKEN_FILE.
set -eu
PODIUM_JOIN_TOKEN=$(cat "$PODIUM_JOIN_TOKEN_FILE")
export PODIUM_JOIN_TOKEN
exec podium node "$@"
