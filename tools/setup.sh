#!/bin/sh
# Installs what the build needs through apt; elsewhere says what is missing. Does nothing when all is there.
set -eu

have() { command -v "$1" >/dev/null 2>&1; }
exists() { for path; do [ -e "$path" ] && return 0; done; return 1; }

has_libclang() {
    [ -n "${LIBCLANG_PATH:-}" ] && return 0
    # The runtime library alone is not enough: bindgen also needs clang's own headers.
    exists /usr/lib/llvm*/lib/libclang*.so* /usr/lib*/libclang.so* /usr/lib/*/libclang*.so* /opt/homebrew/opt/llvm/lib/libclang.dylib &&
        exists /usr/lib/llvm*/lib/clang/*/include/stddef.h /usr/lib*/clang/*/include/stddef.h /opt/homebrew/opt/llvm/lib/clang/*/include/stddef.h
}
has_gflags() { echo '#include <gflags/gflags.h>' | ${CXX:-c++} -E -x c++ - >/dev/null 2>&1; }

# One "what|apt package" per line.
missing() {
    have c++ || have g++ || echo "a C++20 compiler|g++"
    has_libclang || echo "libclang with headers|libclang-dev"
    has_gflags || echo "gflags with headers|libgflags-dev"
    have ccache || echo "ccache|ccache"
    have pkg-config || echo "pkg-config, for the tests of make install|pkg-config"
}

if ! have cargo; then
    echo "setup: Rust is missing (cargo 1.88 or later): see https://rustup.rs" >&2
    exit 1
fi
found=$(missing)
[ -z "$found" ] && exit 0

packages=$(echo "$found" | cut -d'|' -f2 | tr '\n' ' ')
if have apt-get; then
    if [ "$(id -u)" -eq 0 ]; then
        as_root="env"
    elif ! have sudo; then
        as_root=""
    elif [ -t 0 ]; then
        as_root="sudo"
    else
        as_root="sudo -n"
    fi
    if [ -n "$as_root" ]; then
        echo "setup: installing $packages"
        if $as_root apt-get update -qq </dev/null &&
            $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends $packages </dev/null; then
            found=$(missing)
            [ -z "$found" ] && exit 0
        fi
    fi
fi

{
    echo "setup: these are missing and could not be installed:"
    echo "$found" | cut -d'|' -f1 | sed 's/^/  - /'
    echo "Install them and run make again:"
    echo "  Debian, Ubuntu: apt-get install $packages"
    echo "  Fedora:         dnf install gcc-c++ clang-devel gflags-devel ccache pkgconf"
    echo "  Arch:           pacman -S gcc clang gflags ccache pkgconf"
    echo "  macOS:          brew install llvm gflags ccache pkgconf"
} >&2
exit 1
