#!/bin/sh
# Makes stand-ins for the images of deploy/compose.yaml that come from a registry, for machines that reach none: Debian's
# PostgreSQL, RabbitMQ and Caddy in one image with three tags. tests/deploy/compose.stand-ins.yaml names them.
# Usage: tests/deploy/make-stand-ins.sh
set -eu

for tool in mmdebstrap docker apt-get; do
    command -v "$tool" >/dev/null || { echo "make-stand-ins.sh: $tool is missing: apt install mmdebstrap docker.io" >&2; exit 1; }
done
. /etc/os-release
suite=${PODIUM_SUITE:-$VERSION_CODENAME}
mirror=${PODIUM_MIRROR:-$(apt-get indextargets --format '$(REPO_URI)' "Codename: $suite" 2>/dev/null | head -n 1)}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
apt-config dump Acquire::http Acquire::https | grep -Ei '^Acquire::https?::(Proxy|CaInfo|Verify)' >"$folder/apt.conf" || true

cat >"$folder/database" <<'END'
#!/bin/sh
# As the entry point of the image postgres: makes the cluster at the first start.
set -eu
data=/var/lib/postgresql/data
as() { setpriv --reuid postgres --regid postgres --clear-groups "$@"; }
PATH=$(echo /usr/lib/postgresql/*/bin):$PATH
install -d -o postgres -g postgres -m 0700 "$data" /run/postgresql
if [ ! -s "$data/PG_VERSION" ]; then
    printf %s "$POSTGRES_PASSWORD" >/run/password
    chown postgres /run/password
    as initdb --pgdata "$data" --username "$POSTGRES_USER" --pwfile /run/password --auth scram-sha-256 $POSTGRES_INITDB_ARGS
    echo 'host all all all scram-sha-256' >>"$data/pg_hba.conf"
    as pg_ctl --pgdata "$data" --wait --options "-c listen_addresses=''" start
    PGPASSWORD=$POSTGRES_PASSWORD as createdb --username "$POSTGRES_USER" "$POSTGRES_DB"
    as pg_ctl --pgdata "$data" --wait stop
    rm /run/password
fi
exec setpriv --reuid postgres --regid postgres --clear-groups postgres -D "$data" -c listen_addresses='*'
END
cat >"$folder/docker-entrypoint.sh" <<'END'
#!/bin/sh
# As the entry point of the image rabbitmq.
set -eu
chown -R rabbitmq:rabbitmq /var/lib/rabbitmq
exec "$@"
END
chmod +x "$folder/database" "$folder/docker-entrypoint.sh"

mmdebstrap --quiet --variant=minbase --include=postgresql,rabbitmq-server,caddy,ca-certificates --aptopt="$folder/apt.conf" \
    --customize-hook="copy-in $folder/database $folder/docker-entrypoint.sh /usr/local/bin" \
    --customize-hook='rm -rf "$1"/var/cache/apt/* "$1"/var/lib/apt/lists/* "$1"/var/lib/postgresql/*/main "$1"/var/lib/rabbitmq/*' \
    "$suite" "$folder/image.tar" "$mirror"
docker import --change 'CMD ["/usr/local/bin/database"]' "$folder/image.tar" podium-stand-in:database
docker import --change 'CMD ["rabbitmq-server"]' "$folder/image.tar" podium-stand-in:broker
docker import --change 'ENV XDG_DATA_HOME=/data XDG_CONFIG_HOME=/config' \
    --change 'CMD ["caddy", "run", "--config", "/etc/caddy/Caddyfile"]' "$folder/image.tar" podium-stand-in:proxy
