#!/bin/sh
# Builds keeper.wasm, the same bytes each time, with what Debian 12 has: apt-get install clang lld wasi-libc libclang-rt-14-dev-wasm32
set -eu
cd "$(dirname "$0")"
if ! clang --version | grep -q ' 14\.0\.6$' || ! [ -f /usr/lib/wasm32-wasi/crt1-reactor.o ]; then
	echo 'it wants clang 14.0.6 and wasi-libc' >&2
	exit 3
fi
clang --target=wasm32-wasi -mexec-model=reactor -std=gnu11 -Os -Wall -Wextra -Werror -o keeper.wasm keeper.c \
	-lc-printscan-no-floating-point -Wl,--strip-all
chmod 644 keeper.wasm
sha256sum build.sh keeper.c keeper.wasm >SHA256SUMS
