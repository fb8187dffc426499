#!/bin/sh
# Makes Podium's source archive, and from it the wheel. Usage: deploy/dist.sh [FOLDER]   (default: dist)
set -eu

folder=${1:-dist}
tools=$(mktemp -d)
trap 'rm -rf "$tools"' EXIT

"${PYTHON:-python3}" -m venv "$tools"
"$tools/bin/pip" --disable-pip-version-check install --quiet 'build>=1.2'
"$tools/bin/pyproject-build" --outdir "$folder" .
