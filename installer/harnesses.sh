#!/bin/bash
# Installs the pinned versions of the real harness programs for the tests, from npm, into a cache folder, and prints
# the variables that name them. Use it as: eval "$(installer/harnesses.sh)"
set -euo pipefail
shopt -s inherit_errexit

case $(uname -m) in
    x86_64) architecture=x64 ;;
    aarch64|arm64) architecture=arm64 ;;
    *) echo "There is no harness program for $(uname -m)." >&2; exit 1 ;;
esac
triple=$(uname -m | sed s/arm64/aarch64/)-unknown-linux-musl
cache=${XDG_CACHE_HOME:-$HOME/.cache}/signalbox/harnesses

# install_claude VERSION: prints the program's path.
install_claude() {
    local version=$1
    local name=@anthropic-ai/claude-code-linux-$architecture
    local folder=$cache/claude-$version
    local program=$folder/node_modules/$name/claude
    if [ ! -x "$program" ]; then
        echo "Installing Claude Code $version" >&2
        rm -rf "$folder" "$folder.new"
        mkdir -p "$folder.new"
        # The native program stands alone: neither scripts nor dependencies of the package are needed.
        npm install --no-save --ignore-scripts --no-audit --no-fund --prefix "$folder.new" "$name@$version" >&2
        chmod +x "$folder.new/node_modules/$name/claude"
        mv "$folder.new" "$folder"
    fi
    echo "$program"
}

# install_codex VERSION: prints the program's path. The package of one platform holds it and the programs beside it.
install_codex() {
    local version=$1
    local folder=$cache/codex-$version
    local program=$folder/node_modules/@openai/codex/vendor/$triple/bin/codex
    if [ ! -x "$program" ]; then
        echo "Installing Codex $version" >&2
        rm -rf "$folder" "$folder.new"
        mkdir -p "$folder.new"
        npm install --no-save --ignore-scripts --no-audit --no-fund --prefix "$folder.new" \
            "@openai/codex@$version-linux-$architecture" >&2
        [ -x "$folder.new/node_modules/@openai/codex/vendor/$triple/bin/codex" ]
        mv "$folder.new" "$folder"
    fi
    echo "$program"
}

claude_197=$(install_claude 2.1.197)
claude_332=$(install_claude 2.1.332)
codex=$(install_codex 0.171.0)
printf 'export SIGNALBOX_CLAUDE_197=%q\n' "$claude_197"
printf 'export SIGNALBOX_CLAUDE_332=%q\n' "$claude_332"
printf 'export SIGNALBOX_CODEX=%q\n' "$codex"
