# What the examples share: source it, and there is a wrun, two modules and a ledger in a directory of their own.
# $dir is that directory, $url the ledger's address. Whatever was started ends with the script.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
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
# serve NAME ARGUMENTS…: starts a server of $dir, which prints its address as its first line. That is in $served then.
serve() {
	local name=$1
	shift
	"$dir/$name" "$@" >"$dir/$name.url" &
	pids+=($!)
	for _ in {1..200}; do
		if [[ -s $dir/$name.url ]]; then break; fi
		sleep 0.05
	done
	served=$(cat "$dir/$name.url")
	if [[ -z $served ]]; then fail "$name does not start"; fi
}
# ask PATH [JSON]: asks the server at $url.
ask() { curl --silent --show-error --fail --noproxy '*' --max-time 60 ${2:+--data "$2"} "$url$1"; }

# What this machine's operator grants and forbids has no part in an example.
GOENV=$(go env GOENV)
export GOENV XDG_CONFIG_HOME=$dir/config

# Who runs several of them builds once, with build.sh into a directory, and says so.
cd "$root"
if [[ -n ${WRUN_EXAMPLES_BUILT-} ]]; then
	cp "$WRUN_EXAMPLES_BUILT"/* "$dir"
else
	say 'building wrun, its tools and a ledger'
	examples/build.sh "$dir"
fi
serve ledger -file "$dir/ledger.jsonl"
url=$served
