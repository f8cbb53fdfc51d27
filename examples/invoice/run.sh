#!/usr/bin/env bash
# A plan of five steps is killed with kill -9 while the ledger has made the charge and holds the reply back. It is resumed
# from the journal alone: what was done is not done again, and the one thing that nobody can know is asked for.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
dir=$(mktemp -d)
pids=()
clean_up() {
	for pid in "${pids[@]-}"; do
		if [[ -n $pid ]]; then kill -9 "$pid" 2>/dev/null && wait "$pid" 2>/dev/null || true; fi
	done
	rm -rf "$dir"
}
trap clean_up EXIT

say() { printf '\n== %s\n' "$*"; }
fail() {
	printf 'this should not be: %s\n' "$*" >&2
	exit 1
}
# wrun CODE ARGUMENTS…: runs wrun, and wants that exit code. What it wrote to standard output is in $dir/out.
wrun() {
	local want=$1 got=0
	shift
	printf '$ wrun %s\n' "$*"
	"$dir/wrun" --journal "$dir/journal.db" "$@" >"$dir/out" || got=$?
	cat "$dir/out"
	if [[ $got -ne $want ]]; then fail "exit code $got, want $want"; fi
	printf '(exit code %s)\n' "$got"
}
# charges N: wants so many charges in the ledger's file.
charges() {
	local got
	got=$(grep -c '"charge"' "$dir/ledger.jsonl" || true)
	if [[ $got -ne $1 ]]; then fail "the ledger has $got charges, want $1"; fi
	printf 'the ledger has %s\n' "$got"
}
# ask PATH [JSON]: asks the ledger.
ask() { curl --silent --show-error --fail --noproxy '*' --max-time 60 ${2:+--data "$2"} "$url$1"; }

say 'building wrun, its tools and a ledger'
cd "$root"
go build -o "$dir/wrun" ./cmd/wrun
go build -o "$dir/ledger" ./internal/ledger/cmd/ledger
"$dir/wrun" tool build tools/payments -o "$dir/payments.wasm"
"$dir/wrun" tool build tools/text -o "$dir/text.wasm"
"$dir/ledger" -file "$dir/ledger.jsonl" >"$dir/url" &
pids+=($!)
for _ in {1..200}; do
	if [[ -s $dir/url ]]; then break; fi
	sleep 0.05
done
url=$(cat "$dir/url")
if [[ -z $url ]]; then fail 'the ledger does not start'; fi
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
