package finder

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/clipperhouse/displaywidth"
	"github.com/gdamore/tcell/v3"
	"github.com/gdamore/tcell/v3/color"

	"filebus/query"
)

// The sizes from which the screen is divided otherwise.
const (
	wideScreen = 110 // columns: hits and text stand side by side
	tallScreen = 18  // rows: a hit has two
	textScreen = 9   // rows: there is room for a text
)

// A view draws a model on a screen.
type view struct {
	plain, strong, faint, mark tcell.Style
}

func newView(noColour bool) view {
	v := view{strong: tcell.StyleDefault.Bold(true), faint: tcell.StyleDefault.Dim(true), mark: tcell.StyleDefault.Bold(true)}
	if !noColour {
		v.mark = v.mark.Foreground(color.Yellow)
	}
	return v
}

// A rect is a part of the screen.
type rect struct{ x, y, w, h int }

// draw draws everything; the screen sends what has changed.
func (v *view) draw(screen tcell.Screen, m *model) {
	screen.Clear()
	width, height := screen.Size()
	if width < 1 || height < 1 {
		return
	}
	list := rect{0, 2, width, height - 2}
	var text rect
	switch {
	case width >= wideScreen:
		list.w = width * 2 / 5
		text = rect{list.w + 2, 2, width - list.w - 2, height - 2}
		for y := list.y; y < height; y++ {
			screen.Put(list.w, y, "│", v.faint)
		}
	case height >= textScreen:
		list.h = (height - 2) * 2 / 5
		text = rect{0, list.y + list.h + 1, width, height - list.y - list.h - 1}
		v.put(screen, rect{0, list.y + list.h, width, 1}, v.faint, strings.Repeat("─", width))
	}
	v.drawList(screen, m, list, height >= tallScreen)
	v.put(screen, rect{0, 1, width, 1}, v.faint, m.status(width))
	v.drawText(screen, m, text)
	v.drawPrompt(screen, m, width)
	screen.Show()
}

// put writes text in the first row of a part, and returns the columns that it took.
func (v *view) put(screen tcell.Screen, r rect, style tcell.Style, text string) int {
	cells := split(text, 0, false)
	return v.putCells(screen, r, cells, func(cell) tcell.Style { return style })
}

// putCells writes cells as far as there is room. A wide character that would reach
// over the edge is left out.
func (v *view) putCells(screen tcell.Screen, r rect, cells []cell, style func(cell) tcell.Style) int {
	x := 0
	for _, c := range cells {
		if r.h < 1 || x+c.width > r.w {
			break
		}
		if c.width > 0 {
			screen.Put(r.x+x, r.y, c.text, style(c))
		}
		x += c.width
	}
	return x
}

const promptMark = "> "

// drawPrompt draws the line that is typed, its end if it is longer than the screen.
func (v *view) drawPrompt(screen tcell.Screen, m *model, width int) {
	x := v.put(screen, rect{0, 0, width, 1}, v.strong, promptMark)
	start := 0
	for start < m.prompt.at && displaywidth.String(string(m.prompt.text[start:m.prompt.at])) >= width-x {
		start++
	}
	v.put(screen, rect{x, 0, width - x, 1}, v.plain, string(m.prompt.text[start:]))
	screen.ShowCursor(min(x+displaywidth.String(string(m.prompt.text[start:m.prompt.at])), width-1), 0)
}

// status says how many hits there are, what is going on, and the keys.
func (m *model) status(width int) string {
	var parts []string
	switch {
	case m.failure != nil:
		parts = append(parts, oneLine(m.failure.Error()))
	case len(m.hits) > 0:
		parts = append(parts, fmt.Sprintf("%d/%d", m.selected+1, m.total))
	case m.meant != "":
		parts = append(parts, "no hits; did you mean: "+m.meant)
	case m.searching:
		parts = append(parts, "searching")
	default:
		parts = append(parts, "no hits")
	}
	switch {
	case m.stale != nil:
		parts = append(parts, "not up to date: "+oneLine(m.stale.Error()))
	case !m.fresh:
		parts = append(parts, "indexing")
	}
	text := strings.Join(parts, "  ")
	const keys = "enter path  ^o ref  tab whole  ^f/^b scroll  esc leave"
	if room := width - displaywidth.String(text) - len(keys); room >= 2 {
		text += strings.Repeat(" ", room) + keys
	}
	return text
}

func oneLine(text string) string { return strings.Join(strings.Fields(clean(text)), " ") }

// drawList draws the hits around the selected one.
func (v *view) drawList(screen tcell.Screen, m *model, r rect, tall bool) {
	per := 1
	if tall {
		per = 2
	}
	m.rows = max(r.h/per, 1)
	first := max(0, min(m.selected-m.rows/2, len(m.hits)-m.rows))
	for i := first; i < min(first+m.rows, len(m.hits)); i++ {
		line := rect{r.x, r.y + (i-first)*per, r.w, min(per, r.h)}
		v.drawHit(screen, &m.hits[i], line, i == m.selected, tall)
	}
}

// headingOf returns what a hit is about: its title and its section, neither twice.
func headingOf(h *query.Hit) string {
	title, section := oneLine(h.Title), oneLine(h.Section)
	switch {
	case title == "" && section == "":
		return oneLine(h.Snippet.Text)
	case strings.Contains(title, section):
		return title
	case strings.Contains(section, title):
		return section
	}
	return title + " > " + section
}

// drawHit draws a hit: its heading, and in a second row its name, lines and date.
func (v *view) drawHit(screen tcell.Screen, h *query.Hit, r rect, selected, tall bool) {
	style, sign := v.plain, "  "
	if selected {
		style, sign = v.strong.Reverse(true), "▌ "
	}
	heading := headingOf(h)
	where := oneLine(h.Name.String())
	if h.Lines.From > 0 {
		where += fmt.Sprintf(":%d-%d", h.Lines.From, h.Lines.To)
	}
	if h.Store != "" {
		where = filepath.Base(filepath.Dir(h.Store)) + "  " + where
	}
	if !tall {
		x := v.put(screen, r, style, sign+heading+"  ")
		v.put(screen, rect{r.x + x, r.y, r.w - x, r.h}, v.faint, where)
		return
	}
	v.put(screen, r, style, sign+heading)
	v.put(screen, rect{r.x, r.y + 1, r.w, r.h - 1}, v.faint, "  "+h.Date().UTC().Format("2006-01-02")+"  "+where+"  "+oneLine(h.Agent))
}

// drawText draws the text of the selected hit, below a line that says what it is.
func (v *view) drawText(screen tcell.Screen, m *model, r rect) {
	if r.h < 2 || r.w < 1 || m.current() == nil {
		return
	}
	what := "section"
	if m.whole {
		what = "whole record"
	}
	v.put(screen, r, v.faint, oneLine(m.current().Name.String())+"  "+what+"  "+oneLine(m.text.Note))
	y, end := r.y+1, r.y+r.h
	for line := m.scroll; line < len(m.text.lines) && y < end; line++ {
		for _, row := range wrap(m.text.cells(line, r.w*(end-y)), r.w) {
			if y == end {
				return
			}
			v.putCells(screen, rect{r.x, y, r.w, 1}, row, func(c cell) tcell.Style {
				if c.marked {
					return v.mark
				}
				return v.plain
			})
			y++
		}
	}
}
