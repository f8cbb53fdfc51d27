#!/bin/sh
# Builds keeper.wasm, the same bytes each time, with what Debian 12 has: apt-get install rustc libstd-rust-dev-wasm32 lld
set -eu
cd "$(dirname "$0")"
rustc=/usr/bin/rustc
if ! $rustc --version | grep -q '^rustc 1\.63\.0$' || ! [ -d /usr/lib/rustlib/wasm32-wasi ]; then
	echo 'it wants rustc 1.63.0 with libstd-rust-dev-wasm32' >&2
	exit 3
fi
$rustc --edition 2021 --crate-type cdylib --target wasm32-wasi -C lto -C opt-level=s -C codegen-units=1 -C panic=abort \
	-C strip=symbols -D warnings -o keeper.wasm keeper.rs
chmod 644 keeper.wasm
sha256sum build.sh keeper.rs keeper.wasm >SHA256SUMS
