# Cline's command line, a run for each message, as docs/clients/cline.md sets it up: cline.sh PROGRAM ADDRESS
set -euo pipefail
"$1" auth -p openai -k sk-of-the-client -m gpt-5.4-mini -b "$2/v1" </dev/null
settings=$HOME/.cline/data/settings/providers.json
python3 - "$settings" <<END
import json, sys
with open(sys.argv[1]) as file:
    settings = json.load(file)
settings["providers"]["openai-compatible"]["settings"]["headers"] = {"x-session-id": "my-repository"}
with open(sys.argv[1], "w") as file:
    json.dump(settings, file)
END
while read -r message; do
  "$1" -P openai "$message" </dev/null
done
