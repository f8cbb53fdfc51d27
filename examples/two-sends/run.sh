#!/usr/bin/env bash
# One call of a tool makes two charges, and the ledger drops the reply to the second: nobody can know from here whether
# it was made. wrun says so and waits; once it is told, the call ends, with exactly two charges.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$here/../stage.sh"

say 'one call, two charges; the reply to the second is lost'
ask /behaviour '{"hang":1}' >/dev/null # hold the first reply back, until the ledger is told to drop the next
input="{\"ledger\":\"$url\",\"account\":\"acme\",\"amount_cents\":5000,\"fee_cents\":25,\"reference\":\"order-7\"}"
printf '$ wrun call payments.wasm charge_pair %s --id order-7\n' "$input"
"$dir/wrun" --journal "$dir/journal.db" call "$dir/payments.wasm" charge_pair "$input" --id order-7 --allow-http "$url" &
pids+=($!)
call=$!
ask '/hanging?at_least=1' >/dev/null
ask /behaviour '{"drop":1}' >/dev/null
ask /release '{}' >/dev/null
code=0
wait "$call" || code=$?
if [[ $code -ne 4 ]]; then fail "exit code $code, want 4: uncertain"; fi
printf '(exit code 4: uncertain)\n'

say 'resuming does not guess'
wrun 4 resume order-7
charges 2

say 'what the ledger knows is what wrun is told'
ask '/charges?reference=order-7-fee' | sed 's/^\[//; s/\]$//' >"$dir/reply.json"
cat "$dir/reply.json"
wrun 0 resolve order-7 call/2 --happened "@$dir/reply.json" --note 'found it in the ledger'

say 'the call goes on where it was cut off'
wrun 0 resume order-7
grep -q '"fee":{"id":"ch_2"' "$dir/out" || fail 'the output does not have the second charge'
wrun 0 resume order-7
charges 2
wrun 0 show order-7
