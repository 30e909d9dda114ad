#!/bin/sh
# The review article: an orchestrator with seven stand-in agents. It calls them, is
# handed references, and routes files; it never reads a report, section or draft.
#
#   sh run.sh            in an empty folder; "filebus" must be in PATH
#   PREVIEW=40 sh run.sh  with short previews
#   OUT=papers sh run.sh  with the PDF in a folder of your own
set -eu
agents=$(cd "$(dirname "$0")/agents" && pwd)
export FILEBUS_CONVERSATION=review
filebus init >/dev/null
preview=${PREVIEW:-500}
calls=$(mktemp -d)
trap 'rm -rf "$calls"' EXIT

# call ID AGENT COMMAND... runs an agent. What it prints is stored; its reference is
# all that the orchestrator keeps. Where the agent has done that already, it is not run again.
call() {
	id=$1 agent=$2
	shift 2
	filebus exec --reuse --agent "$agent" --call "$id" --preview "$preview" -- sh "$@" >"$calls/$id"
}

# file ID prints the path of a call's file.
file() { sed 's/.*"result_file":"\([^"]*\)".*/\1/' "$calls/$1"; }

# Phase 1: four researchers in parallel.
call aaa "Source Deep Diver" "$agents/researcher.sh" "Sources on Crash Recovery" 3200 11 \
	"The primary sources agree that recovery is a question of order: what is written before what decides what can be read after a crash." &
call bbb "Web Researcher" "$agents/researcher.sh" "Logs in Practice" 2800 22 \
	"Engineers report that most lost updates come from two writers and one file, and that an append-only log with one lock removes nearly all of them." &
call ccc "Web Researcher" "$agents/researcher.sh" "Systems Without a Server" 2500 33 \
	"Tools that open the store for each operation avoid stale daemons, and pay for it with an open and a close that take microseconds." &
call ddd "Academic Researcher" "$agents/researcher.sh" "Studies of Verification" 4100 44 \
	"Controlled studies find that silent damage is rare on one machine and certain on a thousand, so a digest that is checked on every read is worth its cost." &
wait

# Phase 2: the outline, made from the four files.
call outline "Paper Outliner" "$agents/outliner.sh" "$(file aaa)" "$(file bbb)" "$(file ccc)" "$(file ddd)"

# Phase 3: five section writers in parallel, each with the outline and two reports.
section() { call "section_$1" "Section Writer" "$agents/section_writer.sh" "$1" 2980 "$(file outline)" "$(file "$2")" "$(file "$3")"; }
section 1 aaa bbb &
section 2 aaa ddd &
section 3 bbb ccc &
section 4 ccc ddd &
section 5 bbb ddd &
wait

# Phase 4: one text, edited, with its references.
filebus combine --call combined --preview "$preview" --expected-count 5 \
	"$(file section_1)" "$(file section_2)" "$(file section_3)" "$(file section_4)" "$(file section_5)" >"$calls/combined"
call edited "Paper Editor" "$agents/editor.sh" "$(file combined)"
call final "Citation Formatter" "$agents/citation_formatter.sh" "$(file edited)"

# Phase 5: the PDF.
filebus pdf "$(file final)" --title "Review Article" --authors "The Review Team" --out "${OUT:-.}" --preview "$preview" >"$calls/pdf"

# All that the orchestrator has seen, in order, and what that spared its context.
for id in aaa bbb ccc ddd outline section_1 section_2 section_3 section_4 section_5 combined edited final pdf; do
	cat "$calls/$id"
done
filebus budget --conversation review
