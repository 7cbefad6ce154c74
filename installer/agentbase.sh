#!/bin/bash
# Makes a base system for the agent image without any image registry: a small Debian with git and ripgrep, from the
# package mirror that apt uses. Prints the path of the tar file, which is kept in a cache folder. Needs root.
#   installer/agentbase.sh                 and then
#   signalbox sandboxes build-image --base-archive "$(installer/agentbase.sh)"
set -euo pipefail

suite=bookworm
packages=ca-certificates,git,ripgrep
cache=${XDG_CACHE_HOME:-$HOME/.cache}/signalbox/images
archive=$cache/agentbase-$suite.tar
if [ -s "$archive" ]; then
    echo "$archive"
    exit 0
fi
if [ "$(id -u)" -ne 0 ]; then
    echo "agentbase.sh: debootstrap needs root. Run it with sudo, or let the image be built on a base from a registry." >&2
    exit 1
fi
mirror=$(apt-get indextargets --format '$(SITE) $(RELEASE)' 2> /dev/null | awk -v s="$suite" '$2 == s { print $1; exit }')
mkdir -p "$cache"
root=$(mktemp -d "$cache/base.XXXXXX")
trap 'rm -rf "$root" "$archive.new"' EXIT
echo "Making a base system with debootstrap (this takes some minutes)" >&2
debootstrap --variant=minbase --include="$packages" "$suite" "$root" ${mirror:+"$mirror"} > "$cache/debootstrap.log" 2>&1 \
    || { tail -20 "$cache/debootstrap.log" >&2; exit 1; }
# What an agent never needs: package lists and archives, manuals, translations.
rm -rf "$root"/var/cache/apt/* "$root"/var/lib/apt/lists/* "$root"/var/log/* "$root"/usr/share/doc/* \
    "$root"/usr/share/man/* "$root"/usr/share/locale/*
tar --numeric-owner -C "$root" -cf "$archive.new" --exclude=./dev/* --exclude=./proc/* --exclude=./sys/* .
mv "$archive.new" "$archive"
echo "$archive"
