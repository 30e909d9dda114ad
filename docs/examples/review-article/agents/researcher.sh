#!/bin/sh
# A stand-in for a research agent: researcher.sh TITLE WORDS SEED LEAD prints a report.
set -eu
here=$(dirname "$0")
awk -v title="$1" -v words="$2" -v seed="$3" -v lead="$4" -f "$here/prose.awk"
