#!/usr/bin/env bash
# A plan charges three accounts, two of them at once, and is killed with kill -9 while the ledger has made both charges and
# holds the replies back. These two are what nobody can know; nothing else is in doubt, and nothing is done again.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$here/../stage.sh"
cp "$here/plan.yaml" "$dir/plan.yaml"

say 'two charges are under way when the process is killed'
ask /behaviour '{"hang":-1}' >/dev/null
printf '$ wrun run plan.yaml --id batch-9\n'
"$dir/wrun" --journal "$dir/journal.db" -v run "$dir/plan.yaml" --id batch-9 --allow-http "$url" --input "{\"ledger\":\"$url\",
	\"batch\":\"b9\",\"orders\":[{\"account\":\"ada\",\"cents\":500},{\"account\":\"bob\",\"cents\":700},{\"account\":\"cy\",\"cents\":900}]}" &
pids+=($!)
run=$!
ask '/hanging?at_least=2' >/dev/null
kill -9 "$run"
wait "$run" 2>/dev/null || true
charges 2
ask /behaviour '{"hang":0,"decline":1}' >/dev/null

say 'resume: the third charge is not begun before the first is known'
wrun 4 -v resume batch-9
charges 2

say 'what the ledger knows is what wrun is told'
for n in 0 1; do
	ask "/charges?reference=b9-$n" | sed 's/^\[//; s/\]$//' >"$dir/reply.json"
	wrun 0 resolve batch-9 "charge[$n]/1" --happened "@$dir/reply.json" --note 'found it in the ledger'
done

say 'and the rest: the third is declined, and the plan goes on'
wrun 0 -v resume batch-9
grep -q '"asked_for":2100,"charged":1200,"heading":"BATCH B9","remarks":\["cy was not charged: declined"\]' "$dir/out" ||
	fail 'the output is another one'
charges 2
wrun 0 show batch-9
