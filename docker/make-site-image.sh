#!/bin/sh
# Makes the image of a site or of its nodes without a registry: a minimal Debian from this host's own apt mirrors, with
# the wheel of this checkout and the packages of pip's index. Usage: docker/make-site-image.sh site|node [TAG]
# PYTHON must be of the same version as the suite's Python, for which pip chooses the packages.
set -eu

kind=${1:-}
case $kind in
site) uid=65531 packages=ca-certificates,postgresql-client,python3,python3-venv ;;
node) uid=65532 packages=bash,bubblewrap,ca-certificates,ccache,g++,make,python3,python3-numpy,python3-venv ;;
*) echo "make-site-image.sh: say which image: site or node" >&2; exit 2 ;;
esac
tag=${2:-podium-$kind:0.1.0}

for tool in mmdebstrap docker apt-get; do
    command -v "$tool" >/dev/null || { echo "make-site-image.sh: $tool is missing: apt install mmdebstrap docker.io" >&2; exit 1; }
done

. /etc/os-release
suite=${PODIUM_SUITE:-$VERSION_CODENAME}
mirror=${PODIUM_MIRROR:-$(apt-get indextargets --format '$(REPO_URI)' "Codename: $suite" 2>/dev/null | head -n 1)}
[ -n "$mirror" ] || { echo "make-site-image.sh: apt names no mirror for $suite: set PODIUM_MIRROR" >&2; exit 1; }

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
apt-config dump Acquire::http Acquire::https | grep -Ei '^Acquire::https?::(Proxy|CaInfo|Verify)' >"$folder/apt.conf" || true

# of the source archive, which no earlier build in this checkout can reach
PYTHON=${PYTHON:-/usr/bin/python3} sh deploy/dist.sh "$folder/dist" >/dev/null
"${PYTHON:-/usr/bin/python3}" -m venv "$folder/tools"
"$folder/tools/bin/pip" --disable-pip-version-check wheel --quiet --constraint constraints.txt \
    --wheel-dir "$folder/wheels" "$(ls "$folder"/dist/podium-*.whl)[$kind]"

cat >"$folder/inside.sh" <<'END'
set -eu
python3 -m venv /opt/podium
/opt/podium/bin/pip install --quiet --no-index --find-links /wheels "podium[$1]"
rm -rf /wheels /inside.sh
groupadd --gid "$2" podium
useradd --uid "$2" --gid "$2" --no-create-home --home-dir /var/lib/podium podium
install -d -o podium -g podium /var/lib/podium
[ "$1" = node ] || install -d -o podium -g podium /var/lib/podium-join /backups
END
mmdebstrap --quiet --variant=minbase --include="$packages" --aptopt="$folder/apt.conf" \
    --customize-hook="copy-in $folder/wheels $folder/inside.sh /" \
    --customize-hook="chroot \"\$1\" sh /inside.sh $kind $uid" \
    --customize-hook='cp deploy/setup.sh "$1/usr/local/bin/podium-setup"' \
    --customize-hook='cp deploy/join.sh "$1/usr/local/bin/podium-join"' \
    --customize-hook='rm -rf "$1"/var/cache/apt/* "$1"/var/lib/apt/lists/*' \
    "$suite" "$folder/image.tar" "$mirror"
docker import --change "USER $uid:$uid" --change 'WORKDIR /var/lib/podium' --change "LABEL org.podium.image=$kind" \
    --change 'ENV PATH=/opt/podium/bin:/usr/local/bin:/usr/bin:/bin PODIUM_VAR_DIR=/var/lib/podium PODIUM_CACHE_DIR=/var/lib/podium/cache PODIUM_SANDBOX=bubblewrap PYTHONUNBUFFERED=1' \
    "$folder/image.tar" "$tag"
