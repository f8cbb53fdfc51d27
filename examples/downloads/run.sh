#!/usr/bin/env bash
# Two files are downloaded, of several megabytes, past the tool: into artifacts, and from there into the workspace. The process gets kill -9
# in the middle of the second one. The run goes on in another directory, and has both files there: the first one without asking the server
# again, the second one from its beginning.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$here/../stage.sh"
cp "$here/plan.yaml" "$dir/plan.yaml"

say 'a server with files'
go build -o "$dir/feedserver" ./internal/feedserver/cmd/feedserver
"$dir/wrun" tool build tools/files -o "$dir/files.wasm"
serve feedserver
url=$served
# asked NAME N: wants so many requests for a file.
asked() {
	local got
	got=$(ask /requests | grep -o "\"path\":\"/files/$1\"" | wc -l)
	if [[ $got -ne $2 ]]; then fail "the server was asked for $1 $got times, want $2"; fi
	printf 'the server was asked for %s %s times\n' "$1" "$got"
}
bytes=5000000
digest=$(ask "/files/one.bin?bytes=$bytes" | sha256sum | cut -d ' ' -f 1)
asked one.bin 1

say 'the second download is cut off in the middle'
ask /behaviour '{"hang":"two.bin"}'
printf '$ wrun run plan.yaml --id get --workspace here\n'
"$dir/wrun" --journal "$dir/journal.db" -v run "$dir/plan.yaml" --id get --allow-http "GET $url/files" --allow-artifacts=64MiB --workspace "$dir/here" \
	--input "{\"from\":\"$url/files\",\"bytes\":$bytes,\"digest\":\"$digest\"}" &
pids+=($!)
run=$!
ask '/hanging?at_least=1' >/dev/null
kill -9 "$run"
wait "$run" 2>/dev/null || true
[[ -f $dir/here/data/one.bin ]] || fail 'the first file is not there'
[[ ! -e $dir/here/data/two.bin ]] || fail 'half a file is there'
rm -r "$dir/here"
printf 'killed; the directory is deleted too\n'

say 'resume, with another directory'
wrun 0 -v resume get --workspace "$dir/there"
asked one.bin 2
asked two.bin 2
for name in one two; do
	ask "/files/$name.bin?bytes=$bytes" | cmp - "$dir/there/data/$name.bin"
done
printf 'both files are whole\n'
wrun 0 show get

say 'tidying up asks a person first, and removes what was asked about'
wrun 3 call "$dir/files.wasm" tidy '{"match":"*.bin","keep":["data/one.bin"]}' --id tidy --workspace "$dir/there"
[[ -f $dir/there/data/two.bin ]] || fail 'it was removed without asking'
wrun 0 inbox
wrun 0 approve tidy call/2 --by ann
wrun 0 resume tidy
grep -qF '{"removed":["data/two.bin"],"by":"ann"}' "$dir/out" || fail 'something else was removed'
[[ -f $dir/there/data/one.bin && ! -e $dir/there/data/two.bin ]] || fail 'the wrong files are there'
