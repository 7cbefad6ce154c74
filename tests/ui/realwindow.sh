#!/bin/bash
# realwindow.sh PROGRAM [ARGUMENTS]: runs a test on a real X display of its own (Xvfb) with a window manager, and ends both.
set -u
fifo=$(mktemp -u) && mkfifo "$fifo" || exit 1
exec 7<>"$fifo"
rm -f "$fifo"
Xvfb -displayfd 7 -screen 0 1366x768x24 -nolisten tcp >/dev/null 2>&1 &
xvfb=$!
read -r -t 20 -u 7 number || { kill "$xvfb"; echo "Xvfb did not start" >&2; exit 1; }
export DISPLAY=:$number QT_QPA_PLATFORM=xcb
openbox --sm-disable >/dev/null 2>&1 &
manager=$!
for _ in $(seq 100); do # the window manager manages the display before the first window comes
    xprop -root _NET_SUPPORTING_WM_CHECK 2>/dev/null | grep -q 'window id' && break
    sleep 0.1
done
"$@"
status=$?
kill "$manager" "$xvfb" 2>/dev/null
wait "$manager" "$xvfb" 2>/dev/null
exit "$status"
