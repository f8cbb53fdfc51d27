#!/usr/bin/env bash
# A plan charges an account, and then a tool fails. The run is over and says why; resuming it returns the same, and
# neither the charge nor the tool that failed is done again.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$here/../stage.sh"
cp "$here/plan.yaml" "$dir/plan.yaml"

say 'the charge goes through, and then a tool fails'
wrun 1 -v run "$dir/plan.yaml" --id order-8 --allow-http "$url" --input "{\"ledger\":\"$url\"}"
charges 1
wrun 0 --json log order-8 >/dev/null
entries=$(wc -l <"$dir/out")

say 'resuming returns the same, and does nothing'
wrun 1 -v resume order-8
wrun 1 run "$dir/plan.yaml" --id order-8 --allow-http "$url" --input "{\"ledger\":\"$url\"}"
charges 1
wrun 0 --json log order-8 >/dev/null
if [[ $(wc -l <"$dir/out") -ne $entries ]]; then fail 'the log has grown'; fi
wrun 0 show order-8
grep -q 'out of stock' "$dir/out" || fail 'the reason is not shown'
