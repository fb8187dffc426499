#!/bin/sh
# A drill of a site in containers, with work under way: kill -9 of every process, a restart, a backup, and a restore into
# new volumes. Nothing may be lost. It REMOVES the site's volumes. Usage: tests/deploy/compose-drill.sh RELEASE TRACK
# In the environment: COMPOSE, the words of Docker Compose, by default `docker compose`. The release is imported there.
set -eu

release=$1 track=$2
cd "$(dirname "$0")/../../deploy"
compose() { ${COMPOSE:-docker compose} "$@"; }
ask() { compose exec -T database sh -c 'PGPASSWORD=$POSTGRES_PASSWORD psql -h 127.0.0.1 -U podium -Atc "$0"' "$1"; }
# A share of a joined node's results is judged again by a node of another token: here those wait for ever.
open_jobs() { ask "SELECT count(*) FROM fleet_job WHERE state NOT IN ('done', 'cancelled') AND apart_from_id IS NULL"; }
results() { ask "SELECT evaluation_id, verdict FROM leaderboard_result ORDER BY id"; }
say() { echo "$(date +%T) $*"; }
wait_until_done() {
    seconds=0
    while [ "$(open_jobs)" != 0 ]; do
        seconds=$((seconds + 5))
        [ $seconds -lt 900 ] || { say "waited too long"; exit 1; }
        sleep 5
    done
}
check_all() { # each evaluation is done, with one result
    lost=$(ask "SELECT count(*) FROM leaderboard_evaluation e WHERE state <> 'done' AND NOT EXISTS
        (SELECT 1 FROM fleet_job j WHERE j.evaluation_id = e.id AND j.apart_from_id IS NOT NULL)")
    odd=$(ask "SELECT count(*) FROM (SELECT 1 FROM leaderboard_result GROUP BY evaluation_id, origin HAVING count(*) > 1) t")
    say "$1: $(results | wc -l) results, $lost evaluations lost, $odd judged twice"
    [ "$lost" = 0 ] && [ "$odd" = 0 ]
}
ready() { compose up --detach --wait --wait-timeout 600 web nodes worker proxy node backup >/dev/null 2>&1; }

compose exec -T worker podium-site verify_release "$release" --track "$track" >/dev/null || true
say "$(open_jobs) jobs are open"
for service in node worker web nodes broker database proxy; do
    kill -9 "$(docker inspect --format '{{.State.Pid}}' "$(compose ps --quiet $service)")"
    say "killed $service"
done
ready
say "everything runs again; $(open_jobs) jobs are open"
wait_until_done
check_all "after kill -9"

compose restart >/dev/null 2>&1
ready
check_all "after a restart"

results >/tmp/podium-drill.before
compose exec -T backup podium-site backup /backups
copy=$(mktemp -d)
docker cp --quiet "$(compose ps --quiet backup):/backups/." "$copy"
compose down >/dev/null 2>&1
for volume in database broker state join backups node; do docker volume rm --force "podium_$volume" >/dev/null; done
say "all volumes but the certificates are gone"
compose up --detach --wait database broker >/dev/null 2>&1
chown -R 65531:65531 "$copy"
compose run --rm --no-deps --volume "$copy:/from:ro" backup podium-site restore /from
ready
results >/tmp/podium-drill.after
cmp /tmp/podium-drill.before /tmp/podium-drill.after
check_all "after a restore into new volumes"
rm -rf "$copy"
