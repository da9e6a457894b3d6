#!/bin/sh
# Installs the published binary of Throughline. Needs curl or wget, tar and sha256sum; no root.
#
#   sh scripts/install.sh [--to FOLDER] [--version X.Y.Z]
#
# FOLDER is ~/.local/bin unless said otherwise. THROUGHLINE_DOWNLOAD names another place for the archives: a mirror, or
# file:///folder for what scripts/dist made. Nothing is installed whose checksum does not fit.
set -eu

to=${HOME:-.}/.local/bin
version=latest
fail() {
  echo "error: $1" >&2
  echo "hint: $2" >&2
  exit 1
}
while [ $# -gt 0 ]; do
  case $1 in
    --to) to=${2:?--to needs a folder} && shift 2 ;;
    --version) version=${2:?--version needs a version} && shift 2 ;;
    *) fail "there is no option $1" "sh scripts/install.sh [--to FOLDER] [--version X.Y.Z]" ;;
  esac
done

case $(uname -s)-$(uname -m) in
  Linux-x86_64 | Linux-amd64) platform=x86_64-linux ;;
  *) fail "there is no binary for $(uname -s) on $(uname -m)" "build it: cargo install --locked --path crates/server" ;;
esac
releases=https://github.com/throughline/throughline/releases
case $version in
  latest) usual=$releases/latest/download ;;
  *) usual=$releases/download/v$version ;;
esac
from=${THROUGHLINE_DOWNLOAD:-$usual}
archive=throughline-$platform.tar.gz

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fetch() { # NAME
  if command -v curl >/dev/null 2>&1; then
    curl --fail --silent --show-error --location --output "$work/$1" "$from/$1"
  else
    wget --quiet --output-document "$work/$1" "$from/$1"
  fi || fail "$from/$1 cannot be fetched" "see whether the version exists, or build from source"
}
fetch "$archive"
fetch "$archive.sha256"
(cd "$work" && sha256sum --check --status "$archive.sha256") ||
  fail "the checksum of $archive does not fit" "fetch it again; if that does not help, report it"
tar -xzf "$work/$archive" -C "$work" throughline
"$work/throughline" --version >/dev/null ||
  fail "the binary does not start here" "it needs Linux with glibc 2.17 or newer; build from source elsewhere"

mkdir -p "$to"
# In one step, also over a binary that is running.
cp "$work/throughline" "$to/.throughline.new"
chmod 755 "$to/.throughline.new"
mv "$to/.throughline.new" "$to/throughline"
echo "$("$to/throughline" --version) is in $to"
case ":$PATH:" in
  *":$to:"*) ;;
  *) echo "$to is not in PATH: start it as $to/throughline, or add the folder" ;;
esac
