#!/usr/bin/env bash
# A digest: new entries of a feed become a report, which is archived at a server and mailed. The process gets kill -9 while the archive
# has the report and holds its reply back, and everything it worked with is deleted. It is resumed in another directory: there is one
# mail, each entry comes once, and the report is whole.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$here/../stage.sh"

say 'a server with a feed for those who have a token, and a mail server'
go build -o "$dir/feedserver" ./internal/feedserver/cmd/feedserver
go build -o "$dir/mailserver" ./internal/mailserver/cmd/mailserver
for tool in feed files mailer; do "$dir/wrun" tool build "tools/$tool" -o "$dir/$tool.wasm"; done
mkdir "$dir/mail"
serve mailserver -dir "$dir/mail" -user desk -password let-me-in-please
server=$served
serve feedserver -token only-for-readers
url=$served
export MAIL_PASSWORD=let-me-in-please FEED_TOKEN=only-for-readers
grants=(
	--allow-http "GET $url/feed" --allow-http "GET $url/feed.json" --allow-http "PUT $url/archive"
	--secret "feed=env:FEED_TOKEN@$url" --set "feed.url=$url/feed" --set feed.page=2 --allow-kv feed --allow-artifacts=1MiB
	--mail "$server,from=desk@example.com,user=desk,secret=smtp" --secret "smtp=env:MAIL_PASSWORD@$server" --mail-to @example.com
)
input="{\"number\":1,\"archive\":\"$url/archive\",\"to\":\"ann@example.com\"}"
# mails N: wants so many mails at the server.
mails() {
	local got
	got=$(find "$dir/mail" -name '*.eml' | wc -l)
	if [[ $got -ne $1 ]]; then fail "the server has $got mails, want $1"; fi
	printf 'the server has %s\n' "$got"
}
# entry ID TITLE: is published in the feed.
entry() { ask /entries "{\"id\":\"$1\",\"title\":\"$2\"}"; }
# returned LIST: wants these entries in the output.
returned() { grep -qF "\"entries\":$1" "$dir/out" || fail "want the entries $1"; }

say 'the report is archived, and the process killed before it knows'
entry a 'Rain in the north'
entry b 'Sun in the south'
ask /behaviour '{"hang":"digest-1.md"}'
mkdir "$dir/first"
cp "$here/plan.yaml" "$dir"/{feed,files,text,mailer}.wasm "$dir/first"
printf '$ wrun run plan.yaml --id digest-1 --workspace first/files\n'
"$dir/wrun" --journal "$dir/journal.db" -v run "$dir/first/plan.yaml" --id digest-1 --input "$input" --workspace "$dir/first/files" "${grants[@]}" &
pids+=($!)
run=$!
ask '/hanging?at_least=1' >/dev/null
kill -9 "$run"
wait "$run" 2>/dev/null || true
mails 0
rm -r "$dir/first"
printf 'killed; plan, modules and files are deleted too\n'

say 'the world goes on meanwhile'
entry c 'Wind in the west'

say 'resume, with another directory for the files'
wrun 0 -v resume digest-1 --workspace "$dir/second"
returned '["b","a"]'
mails 1
wrun 0 show digest-1

say 'the report is whole: as a file, in the archive, and in the mail'
cat "$dir/second/digests/1.md"
grep -q '^\* Sun in the south (b)$' "$dir/second/digests/1.md" || fail 'the report lacks an entry'
if grep -q 'Wind' "$dir/second/digests/1.md"; then fail 'the report has an entry that came later'; fi
ask /archive/digest-1.md | cmp - "$dir/second/digests/1.md"
grep -q 'filename="\?digest-1.md' "$dir/mail/1.eml" || fail 'the mail has no attachment'
[[ $(ask /requests | grep -o '"method":"PUT","path":"/archive/digest-1.md","status":20[14],"idempotency_key":"[^"]*"' | sed 's/"status":[0-9]*,//' | sort | uniq -c | awk '{print $1}') == 2 ]] ||
	fail 'want two requests with one key'
printf 'the archive was asked twice, under one key\n'

say 'the server is busy, and the next digest waits as long as it wants: it has what is new, and nothing else'
cp "$here/plan.yaml" "$dir/plan.yaml"
ask /behaviour '{"busy":1}'
wrun 0 run "$dir/plan.yaml" --id digest-2 --input "${input/:1,/:2,}" --workspace "$dir/second" "${grants[@]}" --wait=1m
[[ $(ask /requests | grep -o '"path":"/feed.json","status":[0-9]*' | grep -o '[0-9]*$' | tr '\n' ' ') == '200 503 200 ' ]] || fail 'want the feed read twice, and refused once'
returned '["c"]'
mails 2
wrun 0 call "$dir/feed.wasm" seen '{}' --allow-kv feed:ro
[[ $(grep -o '"id"' "$dir/out" | wc -l) == 3 ]] || fail 'want three entries that were returned'

say 'nothing knows the token and the password'
if grep -rqe only-for-readers -e let-me-in-please "$dir"/journal.db* "$dir/mail" "$dir/second"; then fail 'a secret was written down'; fi
