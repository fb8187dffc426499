#!/bin/sh
# A drill of a site in containers with work under way: the first verdict, an upgrade, kill -9 of every service, a restart,
# a backup, a restore into new volumes, a lost key and a moved database. Nothing may be lost. It makes a site of its own,
# `podium-drill`, on the ports of deploy/compose.yaml, and removes it. Usage: tests/deploy/compose-drill.sh [COMMIT]
# With COMMIT the site begins as that commit's, with the images podium-site:COMMIT and podium-node:COMMIT.
# In the environment: COMPOSE, the words of Docker Compose, by default `docker compose`; STAND_INS=1 for the images of
# make-stand-ins.sh; KEEP=1 leaves the site there.
set -eu

commit=${1:-}
cd "$(dirname "$0")/../.."
export COMPOSE_PROJECT_NAME=podium-drill
folder=$(mktemp -d)
cp -R deploy examples/demo "$folder"
cp tests/deploy/compose.stand-ins.yaml "$folder/deploy"
if [ -n "$commit" ]; then
    mkdir "$folder/earlier"
    git archive "$commit" deploy | tar -x -C "$folder/earlier" --strip-components 1
    cp tests/deploy/compose.stand-ins.yaml "$folder/earlier"
fi
rm -f "$folder/deploy/.env"
sh "$folder/deploy/make-env.sh" podium.test drill@podium.test
printf '%s\n' 'PODIUM_TLS=tls internal' PODIUM_AUTHORITY=./authority.crt >>"$folder/deploy/.env"
: >"$folder/deploy/authority.crt" && chmod 644 "$folder/deploy/authority.crt"
site=$folder/deploy

compose() { (cd "$site" && ${COMPOSE:-docker compose} -f compose.yaml ${STAND_INS:+-f compose.stand-ins.yaml} "$@"); }
quietly() { "$@" >"$folder/log" 2>&1 || { cat "$folder/log"; exit 1; }; }
remove() {
    [ -z "${KEEP:-}" ] || return 0
    quietly compose down --volumes --remove-orphans
    docker volume rm --force podium-drill-moved >/dev/null
    rm -rf "$folder"
}
trap remove EXIT
trap 'exit 1' INT TERM
database() { compose ps --quiet database; }
ask() { docker exec "$(database)" sh -c 'PGPASSWORD=$POSTGRES_PASSWORD psql -h 127.0.0.1 -U podium -Atc "$0"' "$1"; }
# A share of a joined node's results is judged again by a node of another token, which only a new join token brings.
open_jobs() { ask "SELECT count(*) FROM fleet_job WHERE state NOT IN ('done', 'cancelled') AND apart_from_id IS NULL"; }
results() { ask "SELECT evaluation_id, verdict FROM leaderboard_result ORDER BY id"; }
say() { echo "$(date +%T) $*"; }
wait_until() { # the condition, of a shell
    seconds=0
    until eval "$1"; do
        seconds=$((seconds + 2))
        [ $seconds -lt 1200 ] || { say "waited too long until $1"; exit 1; }
        sleep 2
    done
}
check_all() { # each evaluation is done, with one result
    wait_until '[ "$(open_jobs)" = 0 ]'
    lost=$(ask "SELECT count(*) FROM leaderboard_evaluation e WHERE state <> 'done' AND NOT EXISTS
        (SELECT 1 FROM fleet_job j WHERE j.evaluation_id = e.id AND j.apart_from_id IS NOT NULL)")
    odd=$(ask "SELECT count(*) FROM (SELECT 1 FROM leaderboard_result GROUP BY evaluation_id, origin HAVING count(*) > 1) t")
    say "$1: $(results | wc -l) results, $lost evaluations lost, $odd judged twice"
    [ "$lost" = 0 ] && [ "$odd" = 0 ]
}
up() { quietly compose up --detach --wait --wait-timeout 1200 web nodes worker proxy node backup; }
import() { # a release of this name, whose checks are work for some minutes
    sed -i "s/^release: .*/release: $1/" "$folder/demo/release.yaml"
    quietly compose run --rm --no-deps --volume "$folder/demo:/demo:ro" worker podium-site import_release /demo --track cpu
    compose exec -T worker podium-site verify_release "$1" --track cpu >"$folder/log" 2>&1 || true
    wait_until '[ "$(open_jobs)" -gt 0 ]'
}
keep() { results >"$folder/before"; }
are_kept() { results | head -n "$(wc -l <"$folder/before")" | cmp - "$folder/before"; }

if [ -n "$commit" ]; then
    cp "$folder/deploy/.env" "$folder/deploy/authority.crt" "$folder/earlier"
    site=$folder/earlier
    export PODIUM_IMAGE="podium-site:$commit" PODIUM_NODE_IMAGE="podium-node:$commit"
fi
began=$(date +%s)
say "up, at a load of $(cut -d' ' -f1 /proc/loadavg)"
quietly compose up --detach --wait --wait-timeout 1200 web nodes worker proxy
wait_until 'compose cp proxy:/data/caddy/pki/authorities/local/root.crt authority.crt 2>"$folder/log"'
chmod 644 "$site/authority.crt" && cp "$site/authority.crt" "$folder/deploy"
import demo-cpu-1
quietly compose up --detach
wait_until '[ "$(results | wc -l)" -gt 0 ]'
say "the first verdict came after $(($(date +%s) - began)) s, at a load of $(cut -d' ' -f1 /proc/loadavg)"

if [ -n "$commit" ]; then
    site=$folder/deploy
    unset PODIUM_IMAGE PODIUM_NODE_IMAGE
    say "upgraded from $commit with $(open_jobs) open jobs"
    up
    check_all "after an upgrade"
fi

import demo-cpu-2
say "$(open_jobs) jobs are open"
for service in node worker web nodes broker database proxy; do
    kill -9 "$(docker inspect --format '{{.State.Pid}}' "$(compose ps --quiet $service)")"
    say "killed $service"
done
up
say "everything runs again; $(open_jobs) jobs are open"
check_all "after kill -9"

quietly compose restart
up
check_all "after a restart"
keep

quietly compose exec -T backup podium-site backup /backups
mkdir "$folder/copy"
docker cp --quiet "$(compose ps --quiet backup):/backups/." "$folder/copy"
chown -R 65531:65531 "$folder/copy"
quietly compose down
for volume in database broker state join backups node; do quietly docker volume rm "${COMPOSE_PROJECT_NAME}_$volume"; done
say "all volumes but the certificates are gone"
quietly compose up --detach --wait database broker
quietly compose run --rm --no-deps --volume "$folder/copy:/from:ro" backup podium-site restore /from
up
are_kept
check_all "after a restore into new volumes"

quietly compose exec -T worker rm /var/lib/podium/secret_key
quietly compose up --detach --force-recreate
up
are_kept
check_all "after a lost key"

quietly compose exec -T backup podium-site backup /backups
quietly compose stop web nodes worker backup
quietly compose run --detach --no-deps --name podium-drill-moved --volume podium-drill-moved:/var/lib/postgresql/data \
    --env POSTGRES_PASSWORD=elsewhere database
database() { echo podium-drill-moved; }
sed -i 's/^PODIUM_DATABASE_PASSWORD=.*/PODIUM_DATABASE_PASSWORD=elsewhere/' "$site/.env"
echo PODIUM_DATABASE_HOST=podium-drill-moved >>"$site/.env"
wait_until 'ask "SELECT 1" >"$folder/log" 2>&1'
quietly compose run --rm --no-deps backup podium-site restore /backups
up
are_kept
import demo-cpu-3
check_all "after a moved database"
say "the site's rights: $(compose run --rm --no-deps node podium rights | tr '\n' ';')"
