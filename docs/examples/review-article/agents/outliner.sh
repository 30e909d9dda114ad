#!/bin/sh
# A stand-in for the outliner: outliner.sh REPORT... reads the reports and prints an
# outline: a line for each section, and what each report has to say to it.
set -eu
here=$(dirname "$0")
cat <<'TEXT'
# Outline

The review has five sections, from how data is lost to what a system without a server can promise; each takes its evidence from two of the four reports.

1. Introduction: What Is Lost When Power Fails
2. Logs, Pages and the Order of Writes
3. Many Writers and No Server
4. Verification and Repair
5. Conclusions and Open Questions

TEXT
for report in "$@"; do
	awk 'NR == 1 { print "## Evidence from: " substr($0, 3) "\n"; next }
		/^## / { print "### " substr($0, 4) "\n"; next }
		NF && words < 405 { words += NF; print "- " $0 "\n" }' "$report"
done
