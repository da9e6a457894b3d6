# Claude Code, a run for each message, as docs/clients/claude-code.md sets it up: claude-code.sh PROGRAM ADDRESS
set -euo pipefail
export ANTHROPIC_BASE_URL=$2
export ANTHROPIC_CUSTOM_HEADERS="x-session-id: my-repository"
export ANTHROPIC_API_KEY=sk-of-the-client
export CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1 DISABLE_AUTOUPDATER=1
while read -r message; do
  "$1" -p "$message" </dev/null
done
