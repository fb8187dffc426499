#!/bin/sh
# Runs RabbitMQ and keeps its two accounts: the site's, and the nodes', which may only read. Usage: broker.sh COMMAND …
set -eu

account() { # name, password, permissions to configure, write, read
    rabbitmqctl --quiet add_user "$1" "$2" 2>/dev/null || rabbitmqctl --quiet change_password "$1" "$2"
    rabbitmqctl --quiet set_permissions "$1" "$3" "$4" "$5"
}

(
    until rabbitmqctl --quiet await_startup --timeout 60 2>/dev/null; do sleep 1; done
    account podium "$PODIUM_BROKER_PASSWORD" '.*' '.*' '.*'
    account nodes "$PODIUM_NODE_BROKER_PASSWORD" '^celeryev$' '^celeryev$' '.*'
    rabbitmqctl --quiet delete_user guest 2>/dev/null || true
) &
exec "$@"
