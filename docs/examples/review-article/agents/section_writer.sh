#!/bin/sh
# A stand-in for the section writer: section_writer.sh N WORDS OUTLINE SOURCE... prints
# section N of the outline, with about WORDS words taken from the sources.
set -eu
number=$1 words=$2 outline=$3
shift 3
title=$(sed -n "s/^$number\. //p" "$outline")
cat "$@" | awk -v title="$title" -v number="$number" -v words="$words" '
	function out(text,    parts) { count += split(text, parts, " "); print text "\n" }
	BEGIN {
		out("## " title)
		out("Under the heading \"" title "\" this section weighs what two of the reports have found, puts their evidence side by side, and names what neither of them could settle.")
	}
	/^#/ || !NF { next }
	{ paragraph[++n] = $0 }
	END {
		# Each section begins at another place, so that no two are alike.
		for (i = 0; i < n && count < words; i++) {
			if (i % 5 == 0) out("### Point " ++point)
			text = paragraph[1 + (i * 7 + number * 11) % n]
			size = split(text, parts, " ")
			if (count + size > words) { # the last one ends where the section is full
				text = parts[1]
				for (k = 2; k <= words - count; k++) text = text " " parts[k]
				sub(/[.,;]?$/, ".", text)
			}
			out(text)
		}
	}'
