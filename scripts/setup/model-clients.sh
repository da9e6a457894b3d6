# The official OpenAI and Anthropic Python SDKs and openai-agents, as clients of the drop-in endpoints.
#
#   . scripts/setup/model-clients.sh
#   setup_model_clients CACHE_FOLDER
#
# Installs into the folder once for each set of versions and exports THROUGHLINE_TEST_MODEL_CLIENTS,
# the path of a Python that has them. Needs python3 (3.11 or newer).

MODEL_CLIENTS_PYTHON=(openai==3.49.0 anthropic==2.8.0 openai-agents==0.24.0)

setup_model_clients() {
  local folder=${1:?setup_model_clients needs a cache folder}
  local wanted="${MODEL_CLIENTS_PYTHON[*]}"
  mkdir -p "$folder" || return 1
  folder=$(cd "$folder" && pwd) || return 1
  if [ "$(cat "$folder/installed" 2>/dev/null)" != "$wanted" ]; then
    rm -f "$folder/installed"
    python3 -m venv --clear "$folder/python" || return 1
    "$folder/python/bin/pip" install --quiet --disable-pip-version-check "${MODEL_CLIENTS_PYTHON[@]}" >&2 || return 1
    printf '%s' "$wanted" >"$folder/installed"
  fi
  export THROUGHLINE_TEST_MODEL_CLIENTS="$folder/python/bin/python"
}
