#!/usr/bin/env bash
# A mail is sent once. The mail server takes it over and breaks off before it says so: nobody can know from here whether it went
# out. wrun says so and waits; once it is told, the run goes on, and the server has exactly one mail.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$here/../stage.sh"

say 'a mail server on this host, which will drop its first reply'
go build -o "$dir/mailserver" ./internal/mailserver/cmd/mailserver
"$dir/wrun" tool build tools/mailer -o "$dir/mailer.wasm"
mkdir "$dir/mail"
serve mailserver -dir "$dir/mail" -user desk -password let-me-in-please -drop 1
server=$served
export MAIL_PASSWORD=let-me-in-please
grants=(--mail "$server,from=desk@example.com,user=desk,secret=smtp" --secret "smtp=env:MAIL_PASSWORD@$server" --mail-to @example.com)
# mails N: wants so many mails at the server.
mails() {
	local got
	got=$(find "$dir/mail" -name '*.eml' | wc -l)
	if [[ $got -ne $1 ]]; then fail "the server has $got mails, want $1"; fi
	printf 'the server has %s\n' "$got"
}
letter='{"to":["ann@example.com"],"subject":"Your order 7","text":"Thank you.\n","files":[{"name":"order.csv","type":"text/csv","text":"7,1\n"}]}'

say 'who is not granted is not written to, and nothing is sent'
wrun 5 call "$dir/mailer.wasm" send "${letter/ann@example.com/ann@example.org}" --id order-6 "${grants[@]}" 2>"$dir/said" || true
cat "$dir/said"
grep -q -- '--mail-to ann@example.org' "$dir/said" || fail 'it does not say what is missing'
mails 0

say 'the server takes the mail over, and its reply is lost'
wrun 4 call "$dir/mailer.wasm" send "$letter" --id order-7 "${grants[@]}"
mails 1

say 'resuming does not guess'
wrun 4 resume order-7
mails 1

say 'what is in the mailbox is what wrun is told'
id=$(sed -n 's/^Message-ID: \(<.*>\).*$/\1/p' "$dir/mail/1.eml" | tr -d '\r')
printf '%s\n' "$id"
wrun 0 resolve order-7 call/1 --happened "{\"message_id\":\"$id\"}" --note 'found it in the mailbox'
wrun 0 resume order-7
grep -qF "{\"message_id\":\"$id\"}" "$dir/out" || fail 'the output has another id'
mails 1
wrun 0 show order-7

say 'the next one arrives, and nothing knows the password'
wrun 0 call "$dir/mailer.wasm" send "${letter/order 7/order 8}" --id order-8 "${grants[@]}"
mails 2
if grep -rq let-me-in-please "$dir"/journal.db* "$dir"/mail; then fail 'the password was written down'; fi
