#!/bin/sh
# What `make test` leaves out: tests that need a toolkit, a broker, a database server or Docker, further looks at pages,
# on PostgreSQL the tests whose SQL differs there, and alone the attacks that are told by their times.
# PODIUM_TEST_POSTGRES names the server; PODIUM_REQUIRE=postgres makes its absence a failure.
set -eu

python=.venv/bin/python
spread="--dist loadfile --no-loadscope-reorder"
: "${PODIUM_TEST_POSTGRES:=postgresql://postgres@127.0.0.1:5432/postgres}"
export PODIUM_TEST_POSTGRES

# Three on two cores: now and then one waits for a container, a broker or a sample that sleeps. Four were slower.
sh scripts/pytest.sh -n 3 $spread -m "rest and not faults" "$@"

answers='import os, psycopg; psycopg.connect(os.environ["PODIUM_TEST_POSTGRES"], connect_timeout=3).close()'
if $python -c "$answers" 2>/dev/null; then
    echo "On PostgreSQL:"
    # only the files that name the mark: to collect all others takes each worker ten seconds
    files=$(grep -rl --include='test_*.py' both_databases tests)
    DATABASE_URL=$PODIUM_TEST_POSTGRES sh scripts/pytest.sh -n 2 $spread -m both_databases $files "$@"
else
    case ",${PODIUM_REQUIRE:-}," in
        *,postgres,*) echo "PostgreSQL is required, but $PODIUM_TEST_POSTGRES does not answer." >&2; exit 1 ;;
        *) echo "No PostgreSQL at $PODIUM_TEST_POSTGRES: its tests were left out." ;;
    esac
fi

# 40 s on two cores. They compare times of a few milliseconds, so nothing runs beside them.
echo "Attacks told by their times:"
PODIUM_QUIET_MACHINE=1 sh scripts/pytest.sh -n 0 -m rest \
    tests/agent/functions/test_attacks.py::test_an_attack_that_passes_gains_nothing "$@"
