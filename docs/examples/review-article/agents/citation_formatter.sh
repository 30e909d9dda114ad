#!/bin/sh
# A stand-in for the citation formatter: citation_formatter.sh PAPER numbers the
# citations in the order in which they occur and prints the list of references.
set -eu
awk '
	{
		out = ""
		while (match($0, /\[@[a-z]+-[0-9]+\]/)) {
			key = substr($0, RSTART + 2, RLENGTH - 3)
			if (!(key in number)) { number[key] = ++n; keys[n] = key }
			out = out substr($0, 1, RSTART - 1) "[" number[key] "]"
			$0 = substr($0, RSTART + RLENGTH)
		}
		print out $0
	}
	END {
		print "\n## References\n"
		for (i = 1; i <= n; i++) {
			split(keys[i], part, "-")
			print "[" i "] " toupper(substr(part[1], 1, 1)) substr(part[1], 2) " et al. Notes on durable storage, " part[2] ".\n"
		}
	}' "$1"
