package layout

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"filebus/materialize/markdown"
)

// A DialogueDocument is an assembled dialogue: everything that was said in it, and
// what was made of it, in one file. Rows and rounds stand in the order of the
// text. Line numbers count from 1 and are those of the text that was read; the
// writer ignores them.
type DialogueDocument struct {
	Head         DialogueHead
	HeadLine     int    // of the title
	Intro        string // what else stands before the first section
	Panel        []DocumentExpert
	Scores       Scoreboard
	Perspectives []PerspectiveRow
	Tensions     []TensionRow
	Front        []DocumentSection // other sections before the first round
	Rounds       []DocumentRound
	Found        documentParts
}

// documentParts says which sections a document has, by the line of the heading; 0
// for one that it has not.
type documentParts struct {
	Panel, Scores, Perspectives, Tensions int
}

// A DocumentExpert is a row of the panel. The expert has no Name: tables say what
// people are called, not files.
type DocumentExpert struct {
	Expert
	Rounds string // in which it takes part, as in the table; "" if it does not say
	Line   int
}

// A PerspectiveRow is a row of the inventory of perspectives.
type PerspectiveRow struct {
	ID          string // P01
	Agent       string // as in the table, without the emoji; several after each other, or All
	Perspective string
	Round       string // as in the table: 0, or R0; "" if it does not say
	Line        int
}

// A DocumentSection is a section that the form does not have.
type DocumentSection struct {
	Title string
	Text  string
	Line  int
}

// A DocumentRound is a round of a document.
type DocumentRound struct {
	Number int
	Label  string // behind the number, such as "Opening Arguments"
	File   string // the file beside the document that holds the turns; "" if it does itself
	Intro  string // what stands before the first turn
	Turns  []DocumentTurn
	After  []DocumentSection // what stands between this round and the next one
	Line   int
}

// A DocumentTurn is what an agent said in a round, or why it said nothing.
type DocumentTurn struct {
	Name     string // as its file is called, lower case; from the label if the document does not say
	Label    string // as people call the agent
	Emoji    string // before or behind the label
	Note     string // what else the heading says
	Absent   string // why there is no turn; "" for one
	Text     string // the exact text; of an absent agent, what its stub says
	Exact    bool   // the text is the one that was written there, as a digest shows
	Edited   bool   // the text was changed after it was written
	Line     int    // of the heading
	TextLine int    // where the text begins
}

// JudgeEmoji is the emoji of the judge, and AgentEmoji that of an agent which has
// none of its own.
const (
	JudgeEmoji = "💙"
	AgentEmoji = "🧁"
)

// IsJudge reports whether the turn is the judge's.
func (t DocumentTurn) IsJudge() bool { return t.Emoji == JudgeEmoji }

// The titles of a document's sections.
const (
	titlePanel        = "Expert Panel"
	titleScores       = "Alignment Scoreboard"
	titlePerspectives = "Perspectives Inventory"
	titleTensions     = "Tensions Tracker"
)

// AppendDialogueDocument appends the text of a document. Sections without rows are
// not written, but for the inventories of a document that has rounds. Turns keep
// their bytes: each stands between two comments, of which the first says its
// length and digest, so that headings in it do not end it. The last line is a
// comment with the digest of all before it: see CheckSeal.
func AppendDialogueDocument(dst []byte, d DialogueDocument) []byte {
	start := len(dst)
	dst = appendDialogueHead(dst, d.Head)
	dst = appendVerbatim(dst, d.Intro)
	if len(d.Panel) > 0 {
		dst = appendPanel(appendTitle(dst, 2, titlePanel), d.Panel)
	}
	dst = appendScores(dst, d.Scores)
	if len(d.Perspectives)+len(d.Rounds) > 0 {
		dst = appendPerspectives(appendTitle(dst, 2, titlePerspectives), d.Perspectives)
	}
	if len(d.Tensions)+len(d.Rounds) > 0 {
		dst = AppendTensions(appendTitle(dst, 2, titleTensions), d.Tensions)
	}
	dst = appendSections(dst, d.Front)
	for _, r := range d.Rounds {
		dst = appendRound(dst, r)
	}
	return appendSeal(dst, start)
}

// AppendDialogueRound appends the file of one round of a document that is split:
// index is the name of the document's own file.
func AppendDialogueRound(dst []byte, title, index string, r DocumentRound) []byte {
	start := len(dst)
	r.File, r.After = "", nil // those stand in the index
	dst = appendDialogueHead(dst,
		DialogueHead{Title: title, Extra: []Property{{PropertyPart, "[" + index + "](" + index + ")"}}})
	return appendSeal(appendRound(dst, r), start)
}

// Metadata of documents that filebus writes.
const (
	PropertyPart     = "Part of"  // of a round's file: names the document
	PropertyFindings = "Findings" // what the lint finds in it, as it is so in the dialogue
)

// appendTitle appends a heading between blank lines.
func appendTitle(dst []byte, level int, title string) []byte {
	return fmt.Appendf(dst, "\n%s %s\n\n", strings.Repeat("#", level), markdown.SingleSpaced(title))
}

// appendVerbatim appends a text in a block that keeps its bytes.
func appendVerbatim(dst []byte, text string) []byte {
	if text == "" {
		return dst
	}
	return appendBlock(append(dst, '\n'), blockText, []byte(text))
}

func appendSections(dst []byte, sections []DocumentSection) []byte {
	for _, s := range sections {
		dst = fmt.Appendf(dst, "\n## %s\n", markdown.SingleSpaced(s.Title))
		dst = appendVerbatim(dst, s.Text)
	}
	return dst
}

// appendPanel appends the table of the experts, with their rounds if these differ.
func appendPanel(dst []byte, experts []DocumentExpert) []byte {
	head := []string{"Agent", "Role", "Tier", "Relevance", "Emoji", "Rounds"}
	last := experts[len(experts)-1].Rounds
	if !slices.ContainsFunc(experts, func(e DocumentExpert) bool { return e.Rounds != "" && e.Rounds != last }) {
		head = head[:5]
	}
	dst = markdown.AppendHead(dst, head...)
	for _, e := range experts {
		cells := []string{strings.TrimSpace(e.Emoji + " " + e.Label), orNone(e.Role), orNone(e.Tier),
			relevance(e.Relevance), orNone(e.Emoji), orNone(e.Rounds)}
		dst = markdown.AppendRow(dst, cells[:len(head)]...)
	}
	return dst
}

func orNone(text string) string {
	if markdown.SingleSpaced(text) == "" {
		return markdown.NoCell
	}
	return text
}

// relevance returns a relevance with two decimals at least.
func relevance(r float64) string {
	if r == 0 {
		return markdown.NoCell
	}
	text := strconv.FormatFloat(r, 'f', -1, 64)
	if two := strconv.FormatFloat(r, 'f', 2, 64); len(two) > len(text) {
		return two
	}
	return text
}

// appendScores appends the section of the scores: the agents by their numbers, or
// else by round, the total, and the rounds.
func appendScores(dst []byte, b Scoreboard) []byte {
	if len(b.Agents)+len(b.Rounds) == 0 {
		return dst
	}
	dst = append(dst, "\n## "+titleScores+"\n"...)
	hasNone := func(a AgentScore) bool { return a.Marks == (Marks{}) }
	if marks := slices.DeleteFunc(slices.Clone(b.Agents), hasNone); len(marks) > 0 {
		dst = appendAgentMarks(append(dst, '\n'), marks)
	}
	hasMarks := func(a AgentScore) bool { return !hasNone(a) }
	if byRound := slices.DeleteFunc(slices.Clone(b.Agents), hasMarks); len(byRound) > 0 {
		dst = appendAgentRounds(append(dst, '\n'), byRound)
	}
	if b.HasTotal {
		dst = appendTotal(dst, b.Total)
	}
	if len(b.Rounds) > 0 {
		dst = appendRoundScores(appendTitle(dst, 3, "Rounds"), b.Rounds)
	}
	return dst
}

// appendAgentMarks appends the table of the agents with their four numbers.
func appendAgentMarks(dst []byte, agents []AgentScore) []byte {
	dst = markdown.AppendHead(dst, "Agent", "Wisdom", "Consistency", "Truth", "Relationships", "**Total**")
	for _, a := range agents {
		cells := slices.Concat([]string{a.Agent}, a.Marks.cells(), []string{bold(a.Total)})
		dst = markdown.AppendRow(dst, cells...)
	}
	return dst
}

// appendRoundScores appends the table of the rounds.
func appendRoundScores(dst []byte, rounds []RoundScore) []byte {
	dst = markdown.AppendHead(dst,
		"Round", "W", "C", "T", "R", "Score", "S", "Open T", "New P", "Velocity", "Converge %")
	for _, r := range rounds {
		dst = markdown.AppendRow(dst, r.Cells(markdown.NoCell)...)
	}
	return dst
}

// appendPerspectives appends the table of the perspectives.
func appendPerspectives(dst []byte, rows []PerspectiveRow) []byte {
	dst = markdown.AppendHead(dst, "ID", "Agent", "Perspective", "Round")
	for _, r := range rows {
		dst = markdown.AppendRow(dst, orNone(r.ID), orNone(r.Agent), orNone(r.Perspective), orNone(r.Round))
	}
	return dst
}

// appendRound appends a round with its turns, or with a link to them.
func appendRound(dst []byte, r DocumentRound) []byte {
	title := "Round " + strconv.Itoa(r.Number)
	if label := markdown.SingleSpaced(r.Label); label != "" {
		title += ": " + label
	}
	dst = fmt.Appendf(dst, "\n## %s\n", title)
	dst = appendVerbatim(dst, r.Intro)
	if r.File != "" {
		dst = fmt.Appendf(dst, "\n<!-- round %d in %s -->\n[Turns of round %d](%s)\n", r.Number, escapeName(r.File), r.Number, escapeName(r.File))
	} else {
		for _, t := range r.Turns {
			dst = appendTurn(dst, r.Number, t)
		}
	}
	return appendSections(dst, r.After)
}

// appendTurn appends a turn below its heading.
func appendTurn(dst []byte, round int, t DocumentTurn) []byte {
	title := markdown.SingleSpaced(t.Label + " " + t.Emoji + " " + t.Note)
	dst = fmt.Appendf(dst, "\n### %s\n", title)
	name := fmt.Sprintf("%s round %d", escapeName(t.Name), round)
	if t.Absent != "" {
		dst = fmt.Appendf(dst, "\n<!-- %s%s -->\n%s%s*\n", noTurnComment, name, noTurn, markdown.SingleSpaced(t.Absent))
		if t.Text == "" {
			return dst
		}
	}
	return appendBlock(append(dst, '\n'), blockTurn+" "+name, []byte(t.Text))
}

// What stands in place of a turn.
const (
	noTurn        = "*No turn: "
	noTurnComment = "no turn "
)

// A block is a text between two comments of a document, which keeps its bytes:
//
//	<!-- turn muffin round 0 bytes:5 sha256:2cf24dba5fb0a30e -->
//	hello
//	<!-- end of turn muffin round 0 -->
//
// Behind the text comes one line break, and what closes the fences and comments
// that the text leaves open, so that the rest of the document is shown.
type block struct {
	name       string // behind "turn" or "text", before the bytes
	text       string
	exact      bool // the digest is that of the text
	start, end int  // of the block with its comments, in bytes
	at         int  // where the text begins
}

// The words that a block begins with.
const (
	blockTurn = "turn"
	blockText = "text"
)

// blockHead is the first line of a block.
var blockHead = Pattern(`(?m)^<!-- ((?:turn [^ \r\n]+ round \d{1,9})|text) bytes:(\d{1,12}) sha256:([0-9a-f]{16}) -->\r?\n`)

// blockTail is the last line of a block.
var blockTail = Pattern(`(?m)^<!-- end of ((?:turn [^ \r\n]+ round \d{1,9})|text) -->`)

// appendBlock appends a block.
func appendBlock(dst []byte, name string, text []byte) []byte {
	dst = fmt.Appendf(dst, "<!-- %s bytes:%d sha256:%s -->\n", name, len(text), shortDigest(text))
	dst = append(append(dst, text...), '\n')
	if closer := markdown.Unclosed(text); closer != "" {
		dst = append(append(dst, closer...), '\n')
	}
	return append(append(dst, blockEnd(name)...), '\n')
}

func blockEnd(name string) string { return "<!-- end of " + name + " -->" }

// shortDigest returns the first 16 hex digits of a text's SHA-256 digest.
func shortDigest(text []byte) string {
	digest := sha256.Sum256(text)
	return hex.EncodeToString(digest[:8])
}

// findBlocks returns the blocks of a document in their order, and the document
// with spaces in their place, line by line. A block whose text was changed ends
// with its last line; one without that line is none.
func findBlocks(text []byte) (blocks []block, rest []byte) {
	rest = bytes.Clone(text)
	ends := map[string][]int{} // where the last lines of blocks begin, by the block's name
	for _, m := range blockTail().FindAllSubmatchIndex(text, -1) {
		name := string(text[m[2]:m[3]])
		ends[name] = append(ends[name], m[0])
	}
	for at := 0; at < len(text); {
		m := blockHead().FindSubmatchIndex(text[at:])
		if m == nil {
			break
		}
		b, found := newBlock(text, at, m, ends)
		if !found {
			at += m[1]
			continue
		}
		for i := b.start; i < b.end; i++ {
			if rest[i] != '\n' && rest[i] != '\r' {
				rest[i] = ' '
			}
		}
		blocks = append(blocks, b)
		at = b.end
	}
	return blocks, rest
}

// newBlock returns the block whose first line was matched behind the offset at.
func newBlock(text []byte, at int, m []int, ends map[string][]int) (block, bool) {
	b := block{name: string(text[at+m[2] : at+m[3]]), start: at + m[0], at: at + m[1]}
	size, _ := strconv.Atoi(string(text[at+m[4] : at+m[5]])) // at most 12 digits
	from := b.at
	body := text[b.at:]
	b.exact = size < len(body) && body[size] == '\n' && shortDigest(body[:size]) == string(text[at+m[6]:at+m[7]])
	if b.exact {
		from += size + 1
	}
	i, _ := slices.BinarySearch(ends[b.name], from)
	if i == len(ends[b.name]) {
		return b, false
	}
	end := ends[b.name][i]
	b.end = end + len(blockEnd(b.name))
	if b.exact {
		b.text = string(body[:size])
	} else {
		b.text = strings.TrimSuffix(string(text[b.at:end]), "\n")
	}
	return b, true
}

// turnOf returns the agent that a block of a turn names.
func (b block) turnOf() (agent string, found bool) {
	words := strings.Fields(b.name)
	if len(words) != 4 || words[0] != blockTurn {
		return "", false
	}
	return unescapeName(words[1]), true
}

// escapeName returns a name of a file as a word that may stand in a comment and
// in a link.
func escapeName(name string) string {
	return strings.ReplaceAll(url.PathEscape(name), "--", "-%2D")
}

// unescapeName returns the name that escapeName was given.
func unescapeName(text string) string {
	name, err := url.PathUnescape(text)
	if err != nil {
		return text
	}
	return name
}

// sealLine is the last line of a document that filebus has written.
var sealLine = Pattern(`\n<!-- filebus dialogue sha256:([0-9a-f]{16}) -->\n\z`)

// appendSeal appends the line with the digest of dst from start on.
func appendSeal(dst []byte, start int) []byte {
	return fmt.Appendf(dst, "\n<!-- filebus dialogue sha256:%s -->\n", shortDigest(dst[start:]))
}

// CheckSeal reports whether a document is one that filebus has written, by hand
// changed or not, and whether it still is as it was written.
func CheckSeal(text []byte) (sealed, intact bool) {
	m := sealLine().FindSubmatchIndex(text)
	if m == nil {
		return bytes.Contains(text, []byte("\n<!-- filebus dialogue sha256:")), false
	}
	return true, shortDigest(text[:m[0]]) == string(text[m[2]:m[3]])
}

// IsEmoji reports whether c is a pictograph, or a part of one: a selector, a
// joiner, a skin tone, a letter of a flag. Arrows and the marks of typography are
// none.
func IsEmoji(c rune) bool {
	return c >= 0x1F000 && c <= 0x1FAFF || c >= 0x2600 && c <= 0x27BF || c >= 0x2B00 && c <= 0x2BFF ||
		c == 0x200D || c == 0xFE0F
}

// splitEmoji splits text at the first emoji, which may have several characters:
// what stands before it, the emoji, and what stands behind it.
func splitEmoji(text string) (before, emoji, after string) {
	start := strings.IndexFunc(text, IsEmoji)
	if start < 0 {
		return strings.TrimSpace(text), "", ""
	}
	emoji = leading(text[start:], IsEmoji)
	return strings.TrimSpace(text[:start]), emoji, strings.TrimSpace(text[start+len(emoji):])
}

// cutEmoji cuts the emoji before or behind a name.
func cutEmoji(text string) (emoji, name string) {
	before, emoji, after := splitEmoji(text)
	if before != "" && after != "" {
		return "", strings.TrimSpace(text) // in the middle of a sentence
	}
	return emoji, before + after
}
