# Tools that read the OpenAPI document as others do: a validator, a tester, generators of TypeScript types and of a Python client.
#
#   . scripts/setup/api-checks.sh
#   setup_api_checks CACHE_FOLDER
#
# Installs into the folder once for each set of versions and exports THROUGHLINE_TEST_API_CHECKS, the folder. Needs
# python3 (3.11 or newer) and npm. The generator needs a TypeScript of its own, so it is not among the page's packages.

API_CHECKS_PYTHON=(openapi-spec-validator==0.9.0 schemathesis==4.32.5 openapi-python-client==0.29.1)
API_CHECKS_NPM=(openapi-typescript@7.13.0 typescript@5.9.3)

setup_api_checks() {
  local folder=${1:?setup_api_checks needs a cache folder}
  local wanted="${API_CHECKS_PYTHON[*]} ${API_CHECKS_NPM[*]}"
  mkdir -p "$folder" || return 1
  folder=$(cd "$folder" && pwd) || return 1
  if [ "$(cat "$folder/installed" 2>/dev/null)" != "$wanted" ]; then
    rm -f "$folder/installed"
    python3 -m venv --clear "$folder/python" || return 1
    "$folder/python/bin/pip" install --quiet --disable-pip-version-check "${API_CHECKS_PYTHON[@]}" >&2 || return 1
    npm install --silent --no-audit --no-fund --prefix "$folder" "${API_CHECKS_NPM[@]}" >&2 || return 1
    printf '%s' "$wanted" >"$folder/installed"
  fi
  export THROUGHLINE_TEST_API_CHECKS="$folder"
}
