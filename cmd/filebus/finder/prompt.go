package finder

import (
	"unicode"

	"github.com/gdamore/tcell/v3"
)

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
