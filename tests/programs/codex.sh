# Codex, a run for each message, as docs/clients/codex.md sets it up: codex.sh PROGRAM ADDRESS
set -euo pipefail
export OPENAI_API_KEY=sk-of-the-client
mkdir -p "$HOME/.codex"
cat >"$HOME/.codex/config.toml" <<END
model = "gpt-5.4"
model_provider = "throughline"

[model_providers.throughline]
name = "Throughline"
base_url = "$2/v1"
wire_api = "responses"
env_key = "OPENAI_API_KEY"
http_headers = { "x-session-id" = "my-repository" }
END
# Its own sandbox needs rights that a test machine may not give; what the scripted model asks for is to read a file.
while read -r message; do
  "$1" exec --skip-git-repo-check --sandbox danger-full-access "$message" </dev/null
done
