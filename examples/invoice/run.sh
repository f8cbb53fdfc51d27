#!/usr/bin/env bash
# A plan of five steps is killed with kill -9 while the ledger has made the charge and holds the reply back. It is resumed
# from the journal alone: what was done is not done again, and the one thing that nobody can know is asked for.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$here/../stage.sh"
cp "$here/plan.yaml" "$dir/plan.yaml"

say 'a plan of five steps, killed in the second'
ask /behaviour '{"hang":1}' >/dev/null
printf '$ wrun run plan.yaml --id invoice-42\n'
"$dir/wrun" --journal "$dir/journal.db" -v run "$dir/plan.yaml" --id invoice-42 --allow-http "$url" \
	--input "{\"ledger\":\"$url\",\"account\":\"acme\",\"number\":42,\"items\":[1999,501]}" &
pids+=($!)
run=$!
ask '/hanging?at_least=1' >/dev/null
kill -9 "$run"
wait "$run" 2>/dev/null || true
charges 1
rm "$dir/plan.yaml" "$dir/payments.wasm" "$dir/text.wasm"
printf 'killed; the plan and the modules are deleted too\n'

say 'resume: the sum is served from the journal, the charge is not made again'
wrun 4 -v resume invoice-42
charges 1

say 'what the ledger knows is what wrun is told'
ask '/charges?reference=inv-42' | sed 's/^\[//; s/\]$//' >"$dir/reply.json"
cat "$dir/reply.json"
wrun 0 resolve invoice-42 charge/1 --happened "@$dir/reply.json" --note 'found it in the ledger'

say 'and the rest of the plan'
wrun 0 -v resume invoice-42
grep -q '"receipt":"INVOICE 42: 2500 CENTS CHARGED AS CH_1"' "$dir/out" || fail 'the output is another one'
charges 1
wrun 0 show invoice-42
