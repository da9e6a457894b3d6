# A real authorization server for the tests: oidc-provider from npm.
#
#   . scripts/setup/authorization-server.sh
#   setup_authorization_server CACHE_FOLDER
#
# Installs into the folder once for each version and exports THROUGHLINE_TEST_ISSUER_DIR. Needs npm; it is run by
# the Node of scripts/setup/mcp-peers.sh.

AUTHORIZATION_SERVER_NPM=(oidc-provider@9.13.3)

setup_authorization_server() {
  local folder=${1:?setup_authorization_server needs a cache folder}
  local wanted="${AUTHORIZATION_SERVER_NPM[*]}"
  mkdir -p "$folder" || return 1
  folder=$(cd "$folder" && pwd) || return 1
  if [ "$(cat "$folder/installed" 2>/dev/null)" != "$wanted" ]; then
    rm -rf "$folder/installed" "$folder/npm" && mkdir -p "$folder/npm" || return 1
    (cd "$folder/npm" && npm install --no-audit --no-fund --no-package-lock --silent "${AUTHORIZATION_SERVER_NPM[@]}" >&2) || return 1
    printf '%s' "$wanted" >"$folder/installed"
  fi
  export THROUGHLINE_TEST_ISSUER_DIR="$folder/npm"
}
