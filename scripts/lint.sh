#!/bin/sh
# Every static check; all run, and the exit status says whether all held.
set -u

bin=.venv/bin
failed=0
check() {
    title=$1
    shift
    if output=$("$@" 2>&1); then
        echo "ok    $title"
    else
        echo "FAIL  $title"
        echo "$output"
        failed=1
    fi
}

# What `check --deploy` judges is a production site's configuration, so it gets one.
production() {
    var=$(mktemp -d)
    env -u DATABASE_URL PODIUM_VAR_DIR="$var" PODIUM_SECRET_KEY=a-key-for-this-check-alone-0123456789-abcdefghijklmnopqrstuvwxyz \
        PODIUM_SITE_URL=https://podium.example PODIUM_ALLOWED_HOSTS=podium.example "$@"
    status=$?
    rm -rf "$var"
    return $status
}

check "ruff check" $bin/python -m ruff check .
check "ruff format" $bin/python -m ruff format --check .
check "C++ format" $bin/clang-format --dry-run --Werror $(find runners -name '*.cpp' -o -name '*.h')
check "mypy --strict" $bin/python -m mypy .
check "import layers" $bin/lint-imports
check "layout" $bin/python scripts/check_layout.py
check "regular expressions" $bin/python scripts/check_expressions.py
check "no migration missing" $bin/python manage.py makemigrations --check --dry-run
check "manage.py check --deploy" production $bin/python manage.py check --deploy --fail-level WARNING
exit $failed
