# Sphinx, which builds the documents as a site.
#
#   . scripts/setup/site.sh
#   setup_site CACHE_FOLDER
#
# Installs docs/site/requirements.txt, checked by its hashes, into the folder once for each state of that file and exports
# THROUGHLINE_TEST_SITE, the folder of a Python environment. Needs python3 (3.11 or newer).

setup_site() {
  local folder=${1:?setup_site needs a cache folder}
  local requirements
  requirements=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)/docs/site/requirements.txt
  mkdir -p "$folder" || return 1
  folder=$(cd "$folder" && pwd) || return 1
  if ! cmp -s "$requirements" "$folder/installed"; then
    rm -f "$folder/installed"
    python3 -m venv --clear "$folder/python" || return 1
    "$folder/python/bin/pip" install --quiet --disable-pip-version-check --no-compile --require-hashes -r "$requirements" >&2 || return 1
    cp "$requirements" "$folder/installed"
  fi
  export THROUGHLINE_TEST_SITE="$folder/python"
}
