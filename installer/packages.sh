#!/bin/bash
# Installs what is missing, with apt. packages.sh [build|run|test]...; without a word: build and run.
# --list prints the packages instead, one a line.
set -euo pipefail

build_packages=(cmake ninja-build g++ ccache mold
    qt6-base-dev libgl1-mesa-dev libqt6opengl6-dev qt6-charts-dev qt6-svg-dev qcoro-qt6-dev
    nlohmann-json3-dev libexpected-dev libsqlite3-dev libhttp-parser-dev libarchive-dev nettle-dev libzstd-dev qtkeychain-qt6-dev)
run_packages=(libqt6sql6-sqlite libqt6svg6 qt6-qpa-plugins libgl1 libegl1 ca-certificates
    fonts-dejavu-core fonts-noto-cjk)
test_packages=(xvfb openbox x11-utils nodejs npm docker.io debootstrap gnome-keyring dbus)

list_only=false
groups=()
for word in "$@"; do
    case $word in
        --list) list_only=true ;;
        build|run|test) groups+=("$word") ;;
        *) echo "packages.sh: unknown word '$word'; known are build, run, test and --list" >&2; exit 2 ;;
    esac
done
[ ${#groups[@]} -gt 0 ] || groups=(build run)

wanted=()
for group in "${groups[@]}"; do
    case $group in
        build) wanted+=("${build_packages[@]}") ;;
        run) wanted+=("${run_packages[@]}") ;;
        test) wanted+=("${test_packages[@]}") ;;
    esac
done
if $list_only; then
    printf '%s\n' "${wanted[@]}"
    exit 0
fi

is_installed() {
    # A program that came another way (node from its maker, say) is as good as its package.
    case $1 in
        nodejs) command -v node > /dev/null && return 0 ;;
        npm|cmake|xvfb|openbox|ccache|mold) command -v "${1/xvfb/Xvfb}" > /dev/null && return 0 ;;
    esac
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2> /dev/null)" = installed ]
}

missing=()
for package in "${wanted[@]}"; do
    is_installed "$package" || missing+=("$package")
done
[ ${#missing[@]} -gt 0 ] || exit 0

if ! command -v apt-get > /dev/null; then
    echo "This system has no apt-get. Install what corresponds to: ${missing[*]}" >&2
    exit 1
fi
as_root=()
if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo > /dev/null; then
        echo "These packages are missing and neither root nor sudo is at hand: ${missing[*]}" >&2
        exit 1
    fi
    as_root=(sudo)
fi
echo "Installing ${missing[*]}" >&2
install_missing() {
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "${missing[@]}" >&2
}
# The package lists may be fresh enough; updating them first costs time on every other machine.
install_missing || { "${as_root[@]}" apt-get update -q >&2 && install_missing; }
