# Writes WORDS words of filler prose in Markdown about a topic: what a stand-in
# agent has to say. The same variables give the same text, on every awk.
#
#   awk -v seed=7 -v words=3200 -v title='Recovery' -v lead='A first paragraph.' -f prose.awk

function pick(list, n) {
	seed = (seed * 16807) % 2147483647
	return list[1 + seed % n]
}

function say(text,    parts) {
	count += split(text, parts, " ")
	line = line (line == "" ? "" : " ") text
}

function close_paragraph() {
	if (line != "") print line "\n"
	line = ""
}

# heading counts its words and not its mark, which word counts see as one more.
function heading(level, text,    parts) {
	close_paragraph()
	count += split(text, parts, " ") + 1
	print substr("######", 1, level) " " text "\n"
}

function sentence(    text) {
	text = pick(subject, ns) " " pick(verb, nv) " " pick(object, no) " " pick(tail, nt)
	return toupper(substr(text, 1, 1)) substr(text, 2) "."
}

BEGIN {
	ns = split("a write-ahead log|the page cache|an append-only file|a shared journal|the recovery scan|a copy-on-write tree|the commit record|a checksum per page|the lock manager|a content address|an idempotent write|the group commit|a snapshot reader|the free list|a torn page|the segment merge|a compaction pass|the replica|a reference in place of a text|the coordinator", subject, "|")
	nv = split("bounds|hides|moves|shortens|reveals|separates|orders|repeats|postpones|verifies|amortises|simplifies|exposes|records", verb, "|")
	no = split("the cost of a synchronous write|the window in which data can be lost|the order of dependent updates|the work that a restart has to do|the difference between absent and unreadable|the number of seeks for a lookup|the memory that a long text would need|the state that two writers share|the damage of a partial write|the history of a name|the time during which readers wait|the distance between intent and effect", object, "|")
	nt = split("when the machine loses power|under many small writers|on media that reorder requests|without a central process|at the price of one more indirection|as long as the log is read from its start|if every read checks a digest|in the measured range of sizes|after the first crash that nobody planned|for as long as one reader holds an old view|where the disk acknowledges early|once the queue is longer than the batch", tail, "|")
	nc = split("alder-2019|birch-2021|cedar-2018|elm-2023|fir-2020|hazel-2022|larch-2017|maple-2024|oak-2016|pine-2021|rowan-2019|spruce-2023", cite, "|")
	nh = split("Background|Method|What was measured|Failure modes|Trade-offs|Open points|Comparison|Practice|Limits|Implications", section, "|")
	if (seed == 0) seed = 1
	heading(1, title)
	say(lead)
	close_paragraph()
	for (part = 0; count < words; part++) {
		heading(2, section[1 + part % nh] (part < nh ? "" : ", continued"))
		for (paragraph = 0; paragraph < 4 && count < words; paragraph++) {
			for (i = 0; i < 5 && count < words; i++) say(sentence())
			line = substr(line, 1, length(line) - 1) " [@" pick(cite, nc) "]."
			count++
			close_paragraph()
		}
	}
}
