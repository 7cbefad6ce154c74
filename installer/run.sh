#!/bin/bash
# Installs what is missing, builds, and opens the console.
#   run.sh                 the demo: agents that need no key, network or container
#   run.sh --tour DIR      the demo without a display; a PNG of every page goes to DIR
#   run.sh OTHER...        the arguments go to signalbox as they are, e.g. run.sh doctor
set -euo pipefail
# Paths of the arguments are meant from where the caller stands.
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

bash "$top/installer/packages.sh" build run
build=$top/build/release
# ccache needs this to trust a precompiled header.
export CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
(
    cd "$top"
    [ -f "$build/build.ninja" ] || cmake --preset release > /dev/null
    cmake --build "$build" --target signalbox
) >&2

if [ -z "${DISPLAY:-}${WAYLAND_DISPLAY:-}" ] && [ -z "${QT_QPA_PLATFORM:-}" ]; then
    export QT_QPA_PLATFORM=offscreen
    if [ $# -eq 0 ]; then
        echo "There is no display to open the window on. Try: $0 --tour DIR, or $0 --help" >&2
        exit 1
    fi
fi
[ $# -gt 0 ] || set -- --demo
exec "$build/bin/signalbox" "$@"
