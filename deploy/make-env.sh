#!/bin/sh
# Writes deploy/.env, the settings of deploy/compose.yaml, with new passwords. Usage: make-env.sh HOST EMAIL
# HOST is the site's public name, EMAIL the first organiser's address. An existing file is kept.
set -eu

[ $# -eq 2 ] || { sed -n '2,3s/^# //p' "$0" >&2; exit 2; }
file=$(dirname "$0")/.env
[ ! -e "$file" ] || { echo "make-env.sh: $file is there already; its passwords are in use" >&2; exit 1; }

secret() { od -An -N24 -tx1 /dev/urandom | tr -d ' \n'; }

umask 077
cat >"$file.new" <<END
PODIUM_HOST=$1
PODIUM_SITE_URL=https://$1
PODIUM_FIRST_ADMIN=$2
PODIUM_DATABASE_PASSWORD=$(secret)
PODIUM_BROKER_PASSWORD=$(secret)
PODIUM_NODE_BROKER_PASSWORD=$(secret)
PODIUM_METRICS_TOKEN=$(secret)
END
mv "$file.new" "$file"
echo "$file is written."
