#!/bin/bash
# Installs what is missing, builds, runs every test, then the benchmarks in short. The last line is
# "N passed, N failed, N skipped". With CI=true a skipped test is a failure.
set -uo pipefail
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$top" || exit 1
build=$top/build/ci
results=$build/results
mkdir -p "$results"

bash installer/packages.sh build run test || exit 1
if harnesses=$(bash installer/harnesses.sh); then
    eval "$harnesses"
elif [ "${CI:-}" = true ]; then
    echo "The real harness programs could not be installed; in CI that is a failure." >&2
    exit 1
else
    echo "The real harness programs could not be installed; tests with them will be skipped." >&2
fi

# Containers are tested with a system of our own making, so that no registry is asked.
if base=$(bash installer/agentbase.sh); then
    export SIGNALBOX_AGENT_BASE=$base
else
    echo "No base system could be made for containers; tests with them will fail." >&2
fi

# ccache needs this to trust a precompiled header.
export CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
[ -f "$build/build.ninja" ] || cmake --preset ci > "$results/configure.log" || { cat "$results/configure.log"; exit 1; }
cmake --build "$build" || exit 1

# A home and a runtime folder of the tests' own, so that nothing of the person's is read or left behind.
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
mkdir -m 700 "$scratch/run" "$scratch/home"
unset ANTHROPIC_API_KEY ANTHROPIC_AUTH_TOKEN ANTHROPIC_BASE_URL CLAUDE_CONFIG_DIR
unset OPENAI_API_KEY OPENAI_BASE_URL CODEX_HOME
export XDG_RUNTIME_DIR=$scratch/run XDG_DATA_HOME=$scratch/home/data XDG_CONFIG_HOME=$scratch/home/config
export LC_ALL=C.UTF-8 QT_QPA_PLATFORM=offscreen

ctest --test-dir "$build" -j2 --output-on-failure --output-junit "$results/junit.xml" --no-tests=error \
    | tee "$results/ctest.log"
status=${PIPESTATUS[0]}

# Qt Test's own totals count test functions. A program that ended without totals (a crash, a time-out) counts as one
# failure.
log=$build/Testing/Temporary/LastTest.log
read -r passed failed skipped programs < <(awk '
    /^Totals: [0-9]+ passed, [0-9]+ failed, [0-9]+ skipped/ { passed += $2; failed += $4; skipped += $6; programs++ }
    END { print passed + 0, failed + 0, skipped + 0, programs + 0 }' "$log")
started=$(grep -c '^[0-9]*/[0-9]* Testing: ' "$log")
[ "$programs" -ge "$started" ] || failed=$((failed + started - programs))
[ "$status" -eq 0 ] || [ "$failed" -gt 0 ] || failed=1
[ "$failed" -eq 0 ] || status=1
if [ "$skipped" -gt 0 ]; then
    grep -h -A1 '^SKIP ' "$log"
    if [ "${CI:-}" = true ]; then
        echo "A skipped test is a failure in CI." >&2
        status=1
    fi
fi

echo "Benchmarks (short; they never fail for time)"
for bench in "$build"/bin/bench_*; do
    [ -x "$bench" ] || continue
    echo "- $(basename "$bench")"
    SIGNALBOX_BENCH=short timeout 180 "$bench" 2>&1 | grep -i ratio || echo "  no ratio: it ended early"
done

echo "$passed passed, $failed failed, $skipped skipped"
exit "$status"
