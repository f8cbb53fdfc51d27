#!/usr/bin/env bash
# A plan asks a person before it charges, and the process that charges gets kill -9 while the ledger has made the charge and
# holds the reply back. The tool has a look-up: resuming asks the ledger by itself. Then the whole order is undone.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$here/../stage.sh"
cp "$here/plan.yaml" "$dir/plan.yaml"
input="{\"ledger\":\"$url\",\"account\":\"ada\",\"order\":\"o-7\",\"cents\":1999}"

say 'the plan asks, and is suspended'
wrun 3 run "$dir/plan.yaml" --id order-7 --allow-http "$url" --input "$input"
wrun 0 inbox
charges 0

say 'somebody agrees, in another process'
wrun 0 approve order-7 agreed --by ann --note 'ada has called'

say 'the charge is made, and the process killed before it knows'
ask /behaviour '{"hang":1}' >/dev/null
"$dir/wrun" --journal "$dir/journal.db" -v resume order-7 &
pids+=($!)
run=$!
ask '/hanging?at_least=1' >/dev/null
kill -9 "$run"
wait "$run" 2>/dev/null || true
charges 1

say "resume: the tool's look-up finds the charge, and nobody has to be asked"
wrun 0 -v resume order-7
grep -q '"order o-7: ch_1, agreed by ann"' "$dir/out" || fail 'the output is another one'
charges 1

say 'the order is undone by a run of its own'
wrun 0 rollback order-7 --note 'ada has changed her mind'
grep -q '"step":"paid","tool":"payments.refund_charge"' "$dir/out" || fail 'it was not undone'
wrun 0 ls

say 'another order is denied: the plan sees it, and goes on'
wrun 3 run "$dir/plan.yaml" --id order-8 --allow-http "$url" --input "${input/o-7/o-8}"
wrun 0 deny order-8 agreed --by bob --note 'too much'
wrun 0 resume order-8
grep -q '"order o-8: not charged"' "$dir/out" || fail 'the output is another one'
[[ $(ask '/charges?reference=o-8') == '[]' ]] || fail 'it was charged'
