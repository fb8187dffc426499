#!/bin/sh
# The suite on SQLite, then the tests that touch the database again on PostgreSQL where one answers.
# PODIUM_TEST_POSTGRES names the server; PODIUM_REQUIRE=postgres makes its absence a failure.
set -eu

python=.venv/bin/python
: "${PODIUM_TEST_POSTGRES:=postgresql://postgres@127.0.0.1:5432/postgres}"
export PODIUM_TEST_POSTGRES

$python -m pytest -n 2 --dist loadfile "$@"

answers='import os, psycopg; psycopg.connect(os.environ["PODIUM_TEST_POSTGRES"], connect_timeout=3).close()'
if $python -c "$answers" 2>/dev/null; then
    echo "Again on PostgreSQL:"
    touching="(django_db or both_databases) and not restyled"
    DATABASE_URL=$PODIUM_TEST_POSTGRES $python -m pytest -n 2 --dist loadfile -m "$touching" "$@"
else
    case ",${PODIUM_REQUIRE:-}," in
        *,postgres,*) echo "PostgreSQL is required, but $PODIUM_TEST_POSTGRES does not answer." >&2; exit 1 ;;
        *) echo "No PostgreSQL at $PODIUM_TEST_POSTGRES: the second half was left out." ;;
    esac
fi
