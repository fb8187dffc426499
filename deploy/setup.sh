#!/bin/sh
# Prepares the database and, at the first time, the first organiser and what nodes join with. Run it before each start.
set -eu

podium-site migrate --no-input
podium-site collectstatic --no-input --verbosity 0
podium-site first_admin "$PODIUM_FIRST_ADMIN" || echo "setup: no further organiser is made"

# A join token ends after 30 days. A node that has joined keeps a token of its own.
token=/var/lib/podium-join/token
if [ -z "$(find "$token" -size +0 -mtime -7 2>/dev/null)" ]; then
    podium-site add_track cpu --title CPU --device cpu || echo "setup: the track cpu is kept"
    made=$(podium-site add_join_token "compose-$(date -u +%Y%m%d-%H%M%S)" --track cpu --nodes 16 --days 30)
    printf %s "${made##* }" >"$token.new"    # the node is another user; no other container has this volume
    mv "$token.new" "$token"
fi
