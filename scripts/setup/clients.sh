# The libraries that the clients' adapters are for, with the tools that test them.
#
#   . scripts/setup/clients.sh
#   setup_clients CACHE_FOLDER
#
# Installs into the folder once for each set of versions and exports THROUGHLINE_TEST_CLIENTS, the folder of a
# Python environment. Needs python3 (3.10 or newer).

CLIENTS_PYTHON=(
  anthropic==2.8.0
  langchain-core==1.7.2
  langgraph==1.2.20
  langgraph-checkpoint==4.3.1
  langgraph-checkpoint-conformance==0.0.2
  llama-index-core==0.14.25
  openai-agents==0.24.0
  pydantic-ai-slim==2.66.0
  hatchling==1.33.0
  httpx==0.28.1
  mypy==2.4.1
  pytest==9.2.0
)

setup_clients() {
  local folder=${1:?setup_clients needs a cache folder}
  local wanted="${CLIENTS_PYTHON[*]}"
  mkdir -p "$folder" || return 1
  folder=$(cd "$folder" && pwd) || return 1
  if [ "$(cat "$folder/installed" 2>/dev/null)" != "$wanted" ]; then
    rm -f "$folder/installed"
    python3 -m venv --clear "$folder/python" || return 1
    "$folder/python/bin/pip" install --quiet --disable-pip-version-check --no-compile "${CLIENTS_PYTHON[@]}" >&2 || return 1
    printf '%s' "$wanted" >"$folder/installed"
  fi
  export THROUGHLINE_TEST_CLIENTS="$folder/python"
}
