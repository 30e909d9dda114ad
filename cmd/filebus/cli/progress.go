package cli

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// Progress returns a function that shows how far work is, how fast it goes and how
// long it will go on, and one that clears what it has shown. A bar appears on a
// terminal only, and only for work over a second. What is done at the first call
// counts as done before.
func (e *Environ) Progress(what string) (show func(done, total uint64), clear func()) {
	if !e.ErrTerminal || e.Global.JSON {
		return func(uint64, uint64) {}, func() {}
	}
	m := meter{env: e, what: what, start: e.Now()}
	return m.show, m.clear
}

// A meter draws a bar with the speed of the work.
type meter struct {
	env   *Environ
	what  string
	start time.Time

	began time.Time // the first call; zero: none yet
	first uint64    // done by then
	drawn time.Time // the bar; zero: not yet
}

func (m *meter) show(done, total uint64) {
	now := m.env.Now()
	if m.began.IsZero() {
		m.began, m.first = now, done
	}
	const progressDelay = time.Second // how long work goes on before it gets a bar
	if now.Sub(m.start) < progressDelay {
		return
	}
	if now.Sub(m.drawn) < 100*time.Millisecond || total == 0 {
		return
	}
	m.drawn = now
	const width = 30
	full := int(min(done, total) * width / total)
	bar := strings.Repeat("=", full) + strings.Repeat(" ", width-full)
	// A bar that cannot be drawn is no reason to stop.
	_, _ = fmt.Fprintf(m.env.RawErr(), "\r%s [%s] %d%% (%d/%d)\x1b[K", m.what+m.speed(now, done, total), bar, done*100/total, done, total)
}

// speed says how much is done in a second and how long the rest will take, once
// that is known.
func (m *meter) speed(now time.Time, done, total uint64) string {
	took := now.Sub(m.began).Seconds()
	if took <= 0 || done <= m.first {
		return ""
	}
	rate := float64(done-m.first) / took
	text := fmt.Sprintf(", %.0f/s", rate)
	if rate < 10 {
		text = fmt.Sprintf(", %.1f/s", rate)
	}
	if total > done {
		left := time.Duration(float64(total-done) / rate * float64(time.Second))
		text += ", " + max(left.Round(time.Second), time.Second).String() + " left"
	}
	return text
}

func (m *meter) clear() {
	if !m.drawn.IsZero() {
		_, _ = io.WriteString(m.env.RawErr(), "\r\x1b[K") // as above
	}
}

// Counted fits show to work that counts in ints.
func Counted(show func(done, total uint64)) func(done, total int) {
	return func(done, total int) { show(uint64(done), uint64(total)) }
}
