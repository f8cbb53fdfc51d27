#!/usr/bin/env bash
# build.sh DIR: builds what every example needs into a directory: wrun, two of its tools and a ledger.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
into=$1
go build -o "$into/wrun" ./cmd/wrun
go build -o "$into/ledger" ./internal/ledger/cmd/ledger
"$into/wrun" tool build tools/payments -o "$into/payments.wasm"
"$into/wrun" tool build tools/text -o "$into/text.wasm"
