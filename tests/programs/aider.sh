# aider, a run for each message, as docs/clients/aider.md sets it up: aider.sh PROGRAM ADDRESS
set -euo pipefail
cat >.aider.model.settings.yml <<END
- name: openai/gpt-5.4-mini
  reminder: sys
  extra_params:
    extra_headers:
      x-session-id: my-repository
END
while read -r message; do
  "$1" --openai-api-base "$2/v1" --openai-api-key sk-of-the-client --model openai/gpt-5.4-mini --no-git --yes-always --no-pretty \
    --analytics-disable --no-check-update --no-show-release-notes --no-show-model-warnings --message "$message" </dev/null
done
