#!/usr/bin/env bash
# The process of an agent gets kill -9 when its tool has sent a payment and the reply is not recorded: nobody can know from here
# whether the money was taken. The run stops and says so, and goes on once somebody has looked.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$here/../stage.sh"
cp "$here/agent.yaml" "$here/replies.yaml" "$dir"

say 'the ledger takes the money and holds its reply back, and the process is killed'
ask /behaviour '{"hang":1}' >/dev/null
"$dir/wrun" --journal "$dir/journal.db" agent "$dir/agent.yaml" "take 42.00 from ada at $url" --id run-1 --allow-http "$url" &
pids+=($!)
run=$!
ask '/hanging?at_least=1' >/dev/null
kill -9 "$run"
wait "$run" 2>/dev/null || true
charges 1

say 'resume does not guess, however often it is asked'
wrun 4 resume run-1
wrun 4 resume run-1
charges 1

say 'somebody looks at the ledger, and says what became of it'
charge=$(ask '/charges?reference=invoice-7')
printf '{"status":201,"body":%s}\n' "$(sed 's/^\[//; s/\]$//' <<<"$charge")" >"$dir/reply.json"
wrun 0 resolve run-1 'call[0][0]/1' --happened "@$dir/reply.json" --note 'found in the ledger'

say 'the tool goes on behind the payment, and the model hears of it'
wrun 0 resume run-1
grep -q 'ada has paid 4200 cents' "$dir/out" || fail 'the output is another one'
charges 1
wrun 0 cost run-1
