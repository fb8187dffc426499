#!/bin/sh
# Makes the CPU image without a registry: a minimal Debian from this host's own apt mirrors, imported into Docker.
# Prints the image's id, which is what a track or PODIUM_DOCKER_IMAGE names. Usage: docker/make-base-image.sh [TAG]
set -eu

tag=${1:-podium-cpu:latest}
packages=bash,ca-certificates,coreutils,g++,make,python3,python3-numpy

for tool in mmdebstrap docker apt-get; do
    command -v "$tool" >/dev/null || { echo "make-base-image.sh: $tool is missing: apt install mmdebstrap docker.io" >&2; exit 1; }
done

. /etc/os-release
suite=${PODIUM_SUITE:-$VERSION_CODENAME}
mirror=${PODIUM_MIRROR:-$(apt-get indextargets --format '$(REPO_URI)' "Codename: $suite" 2>/dev/null | head -n 1)}
[ -n "$mirror" ] || { echo "make-base-image.sh: apt names no mirror for $suite: set PODIUM_MIRROR" >&2; exit 1; }

settings=$(mktemp)
trap 'rm -f "$settings"' EXIT
# Proxies and certificates of the host, without which its mirror may not answer.
apt-config dump Acquire::http Acquire::https | grep -Ei '^Acquire::https?::(Proxy|CaInfo|Verify)' >"$settings" || true

# Root in the image owns nothing that a container needs to write: every container's root is read-only anyway.
mmdebstrap --quiet --variant=minbase --include="$packages" --aptopt="$settings" \
    --customize-hook='chroot "$1" useradd --uid 65532 --no-create-home --home-dir /tmp podium' \
    --customize-hook='mkdir -p "$1/workspace" "$1/podium"' \
    --customize-hook='rm -rf "$1"/var/cache/apt/* "$1"/var/lib/apt/lists/*' \
    "$suite" - "$mirror" |
    docker import --change 'ENV PATH=/usr/local/bin:/usr/bin:/bin' --change 'LABEL org.podium.image=cpu' - "$tag"
