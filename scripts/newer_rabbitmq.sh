#!/bin/sh
# Starts RabbitMQ 4 beside the machine's own, for tests that need both: Debian sid's package in a folder of its own, on
# 127.0.0.1:5682. Needs root, mmdebstrap and an apt mirror that has sid. The first call takes half a minute.
# Usage: scripts/newer_rabbitmq.sh [FOLDER]
set -eu

folder=${1:-/var/tmp/podium-rabbitmq4}
root=$folder/root
suite=${PODIUM_RABBITMQ_SUITE:-sid}
mirror=${PODIUM_MIRROR:-$(apt-get indextargets --format '$(REPO_URI)' "Codename: $(. /etc/os-release; echo "$VERSION_CODENAME")" 2>/dev/null | head -n 1)}

mkdir -p "$folder"
if ! [ -x "$folder/rabbitmqctl" ]; then
    settings=$(mktemp)
    trap 'rm -f "$settings"' EXIT
    apt-config dump Acquire::http Acquire::https | grep -Ei '^Acquire::https?::(Proxy|CaInfo|Verify)' >"$settings" || true
    rm -rf "$root"
    # a mirror that is a week old is as good for a test
    mmdebstrap --quiet --variant=apt --include=rabbitmq-server --aptopt="$settings" --aptopt='Acquire::Check-Valid-Until "false"' \
        "$suite" "$root" "$mirror"
    printf '127.0.0.1 localhost %s\n' "$(uname -n)" >"$root/etc/hosts"
    cat >"$root/podium" <<'END'
#!/bin/sh
# Runs one of RabbitMQ's programs for the node of this folder.
export HOME=/var/lib/rabbitmq LANG=C.UTF-8 RABBITMQ_NODENAME=podium4@localhost ERL_EPMD_PORT=4370
export RABBITMQ_NODE_IP_ADDRESS=127.0.0.1 RABBITMQ_NODE_PORT=5682 RABBITMQ_DIST_PORT=25682
program=$1
shift
exec "/usr/lib/rabbitmq/bin/$program" "$@"
END
    printf '#!/bin/sh\nexec chroot "%s" /podium rabbitmqctl "$@"\n' "$root" >"$folder/rabbitmqctl"
    chmod +x "$root/podium" "$folder/rabbitmqctl"
fi

answers() { "$folder/rabbitmqctl" -q await_startup --timeout 60 2>/dev/null; }
answers && exit 0
setsid chroot "$root" /podium rabbitmq-server >"$folder/log" 2>&1 &
for _ in 1 2 3 4 5 6 7 8 9 10; do
    sleep 1
    answers && exit 0
done
tail "$folder/log" >&2
exit 1
