# Programs that people run, as clients of the drop-in endpoints.
#
#   . scripts/setup/programs.sh
#   setup_programs CACHE_FOLDER [NAME...]      those of every test run without a name
#
# Installs each into a folder of its own, once for each version, and exports THROUGHLINE_TEST_NAME, the path of the
# program. Needs npm and python3 (3.10 to 3.12 for aider).

PROGRAMS_TESTED=(claude-code codex)
# For each: npm or pip, the package, the program in it.
declare -A PROGRAMS=(
  [claude-code]="npm @anthropic-ai/claude-code@2.1.325 claude"
  [codex]="npm @openai/codex@0.166.0 codex"
  [cline]="npm cline@3.0.65 cline"
  [aider]="pip aider-chat==0.86.2 aider"
)

setup_programs() {
  local cache=${1:?setup_programs needs a cache folder}
  shift
  [ $# -gt 0 ] || set -- "${PROGRAMS_TESTED[@]}"
  mkdir -p "$cache" || return 1
  cache=$(cd "$cache" && pwd) || return 1
  local name
  for name in "$@"; do setup_program "$cache/$name" "$name" || return 1; done
}

setup_program() {
  local folder=$1 name=$2 manager package program
  if [ -z "${PROGRAMS[$name]:-}" ]; then
    echo "there is no program $name" >&2
    echo "hint: one or more of: ${!PROGRAMS[*]}" >&2
    return 1
  fi
  read -r manager package program <<<"${PROGRAMS[$name]}"
  if [ "$(cat "$folder/installed" 2>/dev/null)" != "$package" ]; then
    rm -rf "$folder" && mkdir -p "$folder" || return 1
    if [ "$manager" = npm ]; then
      npm install --silent --no-audit --no-fund --no-package-lock --prefix "$folder" "$package" >&2 || return 1
    else
      python3 -m venv "$folder/python" || return 1
      "$folder/python/bin/pip" install --quiet --disable-pip-version-check --no-compile "$package" >&2 || return 1
    fi
    printf '%s' "$package" >"$folder/installed"
  fi
  local variable=THROUGHLINE_TEST_${name^^}
  if [ "$manager" = npm ]; then program=$folder/node_modules/.bin/$program; else program=$folder/python/bin/$program; fi
  export "${variable//-/_}=$program"
}
