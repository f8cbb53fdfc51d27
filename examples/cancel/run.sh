#!/usr/bin/env bash
# Somebody cancels a run while its model thinks. What the model then answers was paid, so it is recorded; but nothing that it asks for
# begins.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$here/../stage.sh"
cp "$here/agent.yaml" "$here/replies.yaml" "$dir"
ledger=$url
serve wrun dev fake-model --script "$dir/replies.yaml" --file "$dir/bills.jsonl"
model=$served
export WRUN_MODEL=openai/scripted WRUN_MODEL_BASE_URL=$model/v1

say 'the model thinks'
url=$model ask /behaviour '{"hang_after":1}' >/dev/null
"$dir/wrun" --journal "$dir/journal.db" agent "$dir/agent.yaml" "take 42.00 from ada at $ledger" --id run-1 --allow-http "$ledger" &
pids+=($!)
run=$!
url=$model ask '/hanging?at_least=1' >/dev/null

say 'somebody cancels the run, in another process'
wrun 0 cancel run-1 --note 'ada has paid already'

say 'the model answers: it asks for the payment'
url=$model ask /release '{}' >/dev/null
code=0
wait "$run" || code=$?
[[ $code -eq 13 ]] || fail "exit code $code, want 13"
charges 0

say 'the answer is recorded, paid and not used'
wrun 0 show run-1
wrun 0 cost run-1
grep -q 'of these unused *1 ' "$dir/out" || fail 'the ledger does not say so'
wrun 13 resume run-1
charges 0
