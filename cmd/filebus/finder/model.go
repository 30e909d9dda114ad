package finder

import (
	"unicode"

	"github.com/gdamore/tcell/v3"

	"filebus/query"
	"filebus/store/record"
)

// An action is what a key asks of the finder.
type action int

const (
	doNothing action = iota
	doSearch         // the text has changed
	doText           // another text is to be shown
	doMore           // the selection has come to the end of the hits that are here
	doRedraw
	doChoose
	doChooseRef
	doLeave
)

// A textKey says which text is shown.
type textKey struct {
	typed string
	store string
	ref   record.ShortRef
	line  int
	whole bool
}

// A model is what the screen shows.
type model struct {
	prompt    prompt
	pasting   bool
	searching bool
	fresh     bool  // what is new was taken in once
	stale     error // why it was not
	failure   error // of the last search

	typed    string // that the hits are for
	hits     []query.Hit
	total    uint64
	meant    string // what may have been meant, of a search without hits
	selected int
	limit    int // hits that were asked for
	rows     int // hits that the screen shows at once; set by the view
	wantsRef bool
	choosing bool // the user has chosen before the hits for what was typed were here

	whole  bool
	asked  textKey // of the text that was asked for last
	shown  textKey // of text
	text   page
	scroll int // the first line of it on the screen
}

const (
	usualRows = 10   // before the size of the screen is known
	maxHits   = 1000 // that are listed at most
)

// key takes a key and says what it asks for.
func (m *model) key(event *tcell.EventKey) action {
	if m.pasting {
		return m.pasted(event)
	}
	known, changed := m.prompt.key(event)
	switch {
	case changed:
		return doSearch
	case known:
		return doNothing
	}
	key, alt := event.Key(), event.Modifiers()&(tcell.ModAlt|tcell.ModShift|tcell.ModCtrl) != 0
	switch {
	case key == tcell.KeyEnter && alt, isAltEnter(event), key == tcell.KeyCtrlO:
		m.wantsRef = true
		return doChooseRef
	case key == tcell.KeyEnter, key == tcell.KeyCtrlJ:
		m.wantsRef = false
		return doChoose
	case key == tcell.KeyEscape, key == tcell.KeyCtrlC, key == tcell.KeyCtrlG:
		return doLeave
	case key == tcell.KeyCtrlL:
		return doRedraw
	case key == tcell.KeyTab:
		m.whole = !m.whole
		return doText
	case key == tcell.KeyUp && alt:
		return m.scrollBy(-1)
	case key == tcell.KeyDown && alt:
		return m.scrollBy(1)
	case key == tcell.KeyCtrlB:
		return m.scrollBy(-scrollStep)
	case key == tcell.KeyCtrlF:
		return m.scrollBy(scrollStep)
	}
	return m.move(key)
}

// isAltEnter reports whether a key is Alt and Enter as old terminals send it.
func isAltEnter(event *tcell.EventKey) bool {
	return event.Key() == tcell.KeyRune && event.Str() == "m" && event.Modifiers() == tcell.ModAlt|tcell.ModCtrl
}

// scrollStep is how many lines of the text a key moves at once.
const scrollStep = 10

// pasted takes the keys of a pasted text, whose line ends are spaces.
func (m *model) pasted(event *tcell.EventKey) action {
	switch event.Key() {
	case tcell.KeyRune:
		m.prompt.insert([]rune(clean(event.Str())))
	case tcell.KeyEnter, tcell.KeyTab, tcell.KeyCtrlJ:
		m.prompt.insert([]rune{' '})
	default:
		return doNothing
	}
	return doSearch
}

// move takes a key that moves the selection.
func (m *model) move(key tcell.Key) action {
	step := 0
	switch key {
	case tcell.KeyUp, tcell.KeyCtrlP:
		step = -1
	case tcell.KeyDown, tcell.KeyCtrlN:
		step = 1
	case tcell.KeyPgUp:
		step = -m.rows
	case tcell.KeyPgDn:
		step = m.rows
	default:
		return doNothing
	}
	m.selected = max(0, min(m.selected+step, len(m.hits)-1))
	if m.selected == len(m.hits)-1 && uint64(len(m.hits)) < min(m.total, maxHits) && m.limit <= len(m.hits) {
		m.limit = min(len(m.hits)+5*m.rows, maxHits)
		return doMore
	}
	return doText
}

// wanted returns how many hits a search is to find: a screen full for a new text,
// and as many as were asked for of the same.
func (m *model) wanted() int {
	if m.prompt.String() != m.typed || m.limit == 0 {
		return m.rows + 1
	}
	return max(m.limit, m.rows+1)
}

// current returns the selected hit, or nil.
func (m *model) current() *query.Hit {
	if m.selected >= len(m.hits) {
		return nil
	}
	return &m.hits[m.selected]
}

// chosen returns the hit that the user has chosen, or nil. What was typed just before
// counts: until its hits are here, none is.
func (m *model) chosen() *query.Hit {
	if !m.choosing || m.prompt.String() != m.typed {
		return nil
	}
	m.choosing = false
	return m.current()
}

// setHits shows an answer. The selection stays on its hit if the text is the same.
func (m *model) setHits(typed string, answer query.SearchAnswer) {
	was := m.current()
	same := typed == m.typed && was != nil
	m.typed, m.total, m.meant = typed, answer.Total, answer.DidYouMean
	m.limit = len(answer.Hits)
	at := 0
	for i := range answer.Hits {
		if same && answer.Hits[i].Name == was.Name && answer.Hits[i].Store == was.Store {
			at = i
		}
	}
	m.hits, m.selected = answer.Hits, at
	if len(m.hits) == 0 {
		m.asked, m.shown, m.text = textKey{}, textKey{}, page{}
	}
}

// textWanted returns the text that belongs to the selection.
func (m *model) textWanted() (textKey, *query.Hit) {
	hit := m.current()
	if hit == nil {
		return textKey{}, nil
	}
	return textKey{m.typed, hit.Store, hit.Ref, hit.Lines.From, m.whole}, hit
}

// setText shows a text that was read: a whole record from where its section begins.
func (m *model) setText(result textResult) {
	if result.key != m.asked {
		return
	}
	m.shown, m.scroll = result.key, 0
	if result.err != nil {
		m.text = newPage(Text{Note: "cannot be read: " + result.err.Error()})
		return
	}
	m.text = newPage(result.text)
	if result.key.whole {
		m.scrollBy(result.key.line - result.text.Line)
	}
}

func (m *model) scrollBy(lines int) action {
	m.scroll = max(0, min(m.scroll+lines, len(m.text.lines)-1))
	return doNothing
}

// A prompt is the line that the user types in.
type prompt struct {
	text []rune
	at   int // the cursor is before text[at]
}

func newPrompt(text string) prompt {
	runes := []rune(clean(text))
	return prompt{runes, len(runes)}
}

func (p *prompt) String() string { return string(p.text) }

// key edits the line, and reports whether the key is one that does and whether the
// text has changed.
func (p *prompt) key(event *tcell.EventKey) (known, changed bool) {
	before := len(p.text)
	switch event.Key() {
	case tcell.KeyRune:
		if event.Modifiers()&(tcell.ModAlt|tcell.ModMeta|tcell.ModCtrl) != 0 {
			return false, false
		}
		p.insert([]rune(clean(event.Str())))
	case tcell.KeyLeft:
		p.at = max(p.at-1, 0)
	case tcell.KeyRight:
		p.at = min(p.at+1, len(p.text))
	case tcell.KeyHome, tcell.KeyCtrlA:
		p.at = 0
	case tcell.KeyEnd, tcell.KeyCtrlE:
		p.at = len(p.text)
	case tcell.KeyBackspace, tcell.KeyBackspace2:
		p.remove(max(p.at-1, 0), p.at)
	case tcell.KeyDelete, tcell.KeyCtrlD:
		p.remove(p.at, min(p.at+1, len(p.text)))
	case tcell.KeyCtrlU:
		p.remove(0, p.at)
	case tcell.KeyCtrlK:
		p.remove(p.at, len(p.text))
	case tcell.KeyCtrlW:
		p.remove(p.wordStart(), p.at)
	default:
		return false, false
	}
	return true, len(p.text) != before
}

func (p *prompt) insert(runes []rune) {
	text := append([]rune(nil), p.text[:p.at]...)
	text = append(text, runes...)
	p.text = append(text, p.text[p.at:]...)
	p.at += len(runes)
}

func (p *prompt) remove(from, to int) {
	p.text = append(append([]rune(nil), p.text[:from]...), p.text[to:]...)
	p.at = from
}

// wordStart returns where the word before the cursor begins.
func (p *prompt) wordStart() int {
	at := p.at
	for at > 0 && unicode.IsSpace(p.text[at-1]) {
		at--
	}
	for at > 0 && !unicode.IsSpace(p.text[at-1]) {
		at--
	}
	return at
}
