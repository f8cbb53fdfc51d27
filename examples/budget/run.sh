#!/usr/bin/env bash
# An agent may spend 0.005 on its model. It is stopped when that is gone, between two answers and with everything recorded, and goes on
# where it was when it may spend more.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$here/../stage.sh"
cp "$here/agent.yaml" "$here/replies.yaml" "$dir"

say 'the budget is enough for three answers'
wrun 7 agent "$dir/agent.yaml" "take five payments at $url" --id run-1 --allow-http "$url"
charges 3
wrun 0 cost run-1

say 'the same again changes nothing'
wrun 7 resume run-1
charges 3
wrun 0 ls

say 'with a higher one it goes on, and pays for nothing twice'
wrun 0 resume run-1 --max-cost 0.02
charges 5
wrun 0 cost run-1
