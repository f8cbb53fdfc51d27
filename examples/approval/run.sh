#!/usr/bin/env bash
# An agent wants to pay, and a rule wants a person to look first: the run is suspended on disk, and no process waits. Somebody agrees in
# another process, somebody changes the amount, somebody denies; the agent sees what came of it, and each payment is made once.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$here/../stage.sh"
cp "$here/agent.yaml" "$here/replies.yaml" "$dir"
agent() { wrun "$1" agent "$dir/agent.yaml" "take $2 for $3 at $url" --id "$3" --allow-http "$url"; }

say 'a small amount is paid at once'
agent 0 500 order-1
charges 1

say 'a large one is asked about: nothing is paid, and nothing waits'
agent 3 50000 order-2
agent 3 60000 order-3
agent 3 70000 order-4
wrun 0 inbox
charges 1

say 'somebody agrees, somebody changes the amount, somebody denies: each in a process of its own'
wrun 0 approve order-2 'call[0][0]' --by ann --note 'as agreed'
wrun 0 approve order-3 'call[0][0]' --by ann --input "{\"ledger\":\"$url\",\"account\":\"ada\",\"amount_cents\":600,\"reference\":\"order-3\"}"
wrun 0 deny order-4 'call[0][0]' --by bob --note 'too much'
charges 1

say 'the runs go on, and each payment is made once'
wrun 0 resume order-2
charges 2
wrun 0 resume order-3
grep -q 'ann changed the arguments' "$dir/out" || fail 'the agent was not told'
charges 3
[[ $(ask '/charges?reference=order-3') == *'"amount_cents":600'* ]] || fail 'another amount was taken'
wrun 0 resume order-4
grep -q 'Nothing was paid: .*too much' "$dir/out" || fail 'the agent was not told'
charges 3

say 'asked for again, they return what they returned'
wrun 0 resume order-2
wrun 0 resume order-4
charges 3
