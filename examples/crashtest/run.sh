#!/usr/bin/env bash
# A whole plan is killed at every place where a process can die, and resumed by another process each time. What the world did is
# counted, and held against a run that nobody disturbs.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$here/../stage.sh"
cp "$here/plan.yaml" "$here/world.yaml" "$here/input.json" "$dir"
cd "$dir"

say 'every place, and four runs a second time'
wrun 0 crashtest plan.yaml --world world.yaml --input @input.json --second 4
grep -q '^undisturbed: 3 effects, 33 places to die$' "$dir/out" || fail 'the run comes by other places'

say 'a ledger that does not know the keys of refunds gives the deposit back twice, and that is found'
sed '/dedupe/d' world.yaml >forgetful.yaml
wrun 1 crashtest plan.yaml --world forgetful.yaml --input @input.json --second 0 --only 31
grep -q 'killed while back/1 is in flight' "$dir/out" || fail 'another place was visited'
grep -q 'repeated: http refund' "$dir/out" || fail 'the second refund was not found'
