#!/bin/sh
# pytest with these options. With PODIUM_SECOND_TRY=1 up to three failed tests are run once more, alone, and named, because a
# continuous integration's machine may be busy. A test that fails twice fails.
set -u

python=.venv/bin/python
$python -m pytest "$@"
status=$?
[ "$status" = 1 ] && [ "${PODIUM_SECOND_TRY:-}" = 1 ] || exit $status

failed=$($python -c 'import json; print("\n".join(json.load(open(".pytest_cache/v/cache/lastfailed"))))')
count=$(printf '%s\n' "$failed" | wc -l)
[ "$count" -le 3 ] || exit $status
printf 'Second try, alone, of %s failed:\n%s\n' "$count" "$failed"
exec $python -m pytest "$@" -n 0 --dist no --last-failed --last-failed-no-failures none
