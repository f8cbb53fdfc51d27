#!/usr/bin/env bash
# Three rounds of one run: the first process gets kill -9 when its tool has acted, the second one has nothing but the run's id, the
# third asks for a run that is closed. What the model and the ledger were asked for is counted in each, by themselves.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$here/../stage.sh"
cp "$here/agent.yaml" "$here/replies.yaml" "$dir"

# Without a model of your own, a server on loopback speaks for one: it answers by the script, and writes a bill for each answer.
if [[ -z ${WRUN_MODEL-} ]]; then
	serve wrun dev fake-model --script "$dir/replies.yaml" --file "$dir/bills.jsonl"
	export WRUN_MODEL=openai/scripted WRUN_MODEL_BASE_URL=$served/v1
	bills() { grep -c . "$dir/bills.jsonl" || true; }
else
	bills() { "$dir/wrun" --journal "$dir/journal.db" cost run-1 | awk '$1 == "paid" { print $2 }'; }
fi

models=0 tools=0
# round MODEL TOOL: says what the model and the tool were asked for in this round, and wants so many.
round() {
	local model=$(($(bills) - models)) tool=$(($(grep -c '"charge"' "$dir/ledger.jsonl" || true) - tools))
	models=$((models + model)) tools=$((tools + tool))
	printf 'model ×%d · tool ×%d\n' "$model" "$tool"
	if [[ $model -ne $1 || $tool -ne $2 ]]; then fail "want model ×$1 · tool ×$2"; fi
}

say 'round 1: the tool has taken the money and asks for the sum; the process is killed here'
ask /behaviour '{"hang_lists":1}' >/dev/null
"$dir/wrun" --journal "$dir/journal.db" agent "$dir/agent.yaml" "take 42.00 from ada at $url" --id run-1 --allow-http "$url" &
pids+=($!)
run=$!
ask '/hanging?at_least=1' >/dev/null
kill -9 "$run"
wait "$run" 2>/dev/null || true
round 1 1
printf 'journal: %d entries\n' "$("$dir/wrun" --journal "$dir/journal.db" log run-1 | wc -l)"

say 'round 2: another process, with nothing but the id of the run'
wrun 0 resume run-1
round 1 0

say 'round 3: a run that is closed is not opened again, it returns what it returned'
wrun 0 resume run-1
round 0 0

say 'what it cost'
wrun 0 cost run-1
