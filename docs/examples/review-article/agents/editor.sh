#!/bin/sh
# A stand-in for the editor: editor.sh DRAFT prints the draft with a title, an abstract
# and better words.
set -eu
cat <<'TEXT'
# How Storage Survives a Crash

## Abstract

Four reports are brought together in one argument: a store that orders its writes, checks what it reads and needs no server loses nothing that it has acknowledged.

TEXT
sed -e 's/ separates / keeps apart /g' -e 's/ within the measured range/ in every run/g' "$1"
