package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	cdplog "github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	cdppage "github.com/chromedp/cdproto/page"
	cdpruntime "github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// The tests in this file look at the pages with a browser, and are skipped where there is none.

var pictures = flag.Bool("pictures", false, "write docs/page/*.png anew")

// browser starts one, without a window, that is asked by [openTab].
func browser(t *testing.T) context.Context {
	t.Helper()
	if testing.Short() {
		t.Skip("a browser takes long")
	}
	names := []string{"chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "chrome"}
	for _, name := range names {
		path, err := exec.LookPath(name)
		if err != nil {
			continue
		}
		ctx, end := chromedp.NewExecAllocator(t.Context(), append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path),
			chromedp.NoSandbox, chromedp.DisableGPU, chromedp.UserDataDir(t.TempDir()), chromedp.WindowSize(1200, 800))...)
		t.Cleanup(end)
		ctx, end = chromedp.NewContext(ctx)
		t.Cleanup(end)
		if err := chromedp.Do(ctx); err != nil {
			t.Fatalf("starting %s: %v", path, err)
		}
		return ctx
	}
	t.Skipf("there is no browser: none of %s", strings.Join(names, ", "))
	return nil
}

// served starts "filebus serve" for the store of a folder, and returns its first address.
func served(t *testing.T, dir string) *url.URL {
	t.Helper()
	first, _ := servedBy(t, dir)
	return first
}

// servedBy returns the process too.
func servedBy(t *testing.T, dir string, args ...string) (*url.URL, *os.Process) {
	t.Helper()
	cmd := filebusCommand(t, dir, append([]string{"serve", "--port=0", "--json"}, args...)...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // its end is another test's
		_ = cmd.Wait()
	})
	var printed struct{ URL string }
	if err := json.NewDecoder(out).Decode(&printed); err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(printed.URL)
	if err != nil {
		t.Fatal(err)
	}
	return u, cmd.Process
}

// A tab is a page in a browser, and what went wrong there.
type tab struct {
	t     *testing.T
	ctx   context.Context
	first *url.URL // with the token

	mu     sync.Mutex
	faults []string
}

// openTab opens the first address of a server. At the end of the test nothing may have left the
// server, no dialog opened, and nothing been refused.
func openTab(t *testing.T, browser context.Context, first *url.URL) *tab {
	t.Helper()
	ctx, end := chromedp.NewContext(browser)
	t.Cleanup(end)
	b := &tab{t: t, ctx: ctx, first: first}
	if err := chromedp.Listen(ctx, b.hear); err != nil {
		t.Fatal(err)
	}
	b.do(chromedp.EmulateViewport(1200, 800), chromedp.Navigate(first.String()))
	t.Cleanup(func() { b.check("at last") })
	return b
}

func (b *tab) hear(event any) {
	switch e := event.(type) {
	case *cdppage.EventJavascriptDialogOpening:
		b.fault("a dialog: %s", e.Message)
		go func() { // the browser waits
			_, _ = chromedp.Call(b.ctx, cdppage.HandleJavaScriptDialog, cdppage.HandleJavaScriptDialogParams{})
		}()
	case *network.EventRequestWillBeSent:
		if u, err := url.Parse(e.Request.URL); err != nil || u.Host != b.first.Host {
			b.fault("a request leaves: %.200s", e.Request.URL)
		}
	case *cdpruntime.EventExceptionThrown:
		b.fault("an exception: %s", e.ExceptionDetails.Exception.Description)
	case *cdpruntime.EventConsoleAPICalled:
		b.fault("the console: %s", e.Type)
	case *cdplog.EventEntryAdded:
		if strings.Contains(e.Entry.Text, "responded with a status of 4") {
			return // the test asked for what is not there
		}
		b.fault("the console: %s %s", e.Entry.Text, e.Entry.URL)
	}
}

func (b *tab) fault(format string, args ...any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.faults = append(b.faults, fmt.Sprintf(format, args...))
}

// check reports what went wrong since it was asked last, at a page.
func (b *tab) check(path string) {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, f := range slices.Compact(b.faults) {
		b.t.Errorf("%s: %s", path, f)
	}
	b.faults = nil
}

func (b *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, 30*time.Second)
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		b.t.Fatal(err)
	}
}

// show goes to a page and returns its status.
func (b *tab) show(path string) int {
	b.t.Helper()
	for range 3 {
		response, err := chromedp.Run(b.ctx, chromedp.NavigateResponse("http://"+b.first.Host+path))
		if err != nil {
			b.t.Fatalf("%s: %v", path, err)
		}
		if response != nil { // it is not told where the page refreshes itself at that moment
			return int(response.Status)
		}
	}
	b.t.Fatalf("%s: no answer", path)
	return 0
}

// get returns the value of an expression, whose promise it waits for.
func get[T any](b *tab, expression string) T {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, 30*time.Second)
	defer cancel()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		b.t.Fatalf("%s: %v", expression, err)
	}
	return v
}

// until waits until an expression is true, and returns how long that took. While the page is
// going elsewhere it is not.
func (b *tab) until(expression string) time.Duration {
	b.t.Helper()
	var err error
	start := time.Now()
	for time.Since(start) < 15*time.Second {
		ctx, cancel := context.WithTimeout(b.ctx, 15*time.Second)
		var isTrue bool
		isTrue, err = chromedp.Run(ctx, chromedp.Evaluate[bool](expression, chromedp.EvalAwaitPromise))
		if cancel(); isTrue {
			return time.Since(start)
		}
		time.Sleep(10 * time.Millisecond)
	}
	b.t.Fatalf("never true: %s at %s, with the focus on %s (%v)", expression, get[string](b, "location.href"),
		get[string](b, "document.activeElement.outerHTML.slice(0, 300)"), err)
	return 0
}

// prefer sets what the user's system prefers: its colours, as "dark", and motion, as "reduce".
func (b *tab) prefer(scheme, motion string) {
	b.t.Helper()
	call(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: motion}},
	})
}

func call[P, R any](b *tab, command cdp.Command[P, R], params P) {
	b.t.Helper()
	if _, err := chromedp.Call(b.ctx, command, params); err != nil {
		b.t.Fatal(err)
	}
}

// sampleViews are the pages of the sample workspace, by the names of their pictures.
func sampleViews() map[string]string {
	return map[string]string{
		"now": "/", "search": "/search?q=limiter&name=result/conv-limiter-0302/call-b207", "record": "/record?name=note/docs/notes/limiter-load-test.md",
		"issues": "/issues?closed=1", "board": "/issues?view=board&closed=1", "tasks": "/issues?what=tasks&closed=1&group=status",
		"dialogues": "/dialogues", "dialogue": "/dialogue?name=retry-policy", "knowledge": "/knowledge", "review": "/review",
		"sessions": "/sessions", "session": "/session?id=k7m2p9", "budget": "/budget", "health": "/health",
	}
}

// sampleWorkspace returns a folder with the sample workspace in a store.
func sampleWorkspace(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	must(t, copySample(dir))
	mustRun(t, dir, "init", "--yes")
	mustRun(t, dir, "sync")
	return dir
}

// TestPages looks at all pages with one browser.
func TestPages(t *testing.T) {
	t.Parallel()
	chrome := browser(t)
	dir := sampleWorkspace(t)
	address := served(t, dir)
	axe, err := os.ReadFile("web/testdata/axe-core-4.14.1/axe.min.js")
	must(t, err)
	t.Run("beside each other", func(t *testing.T) {
		for name, path := range sampleViews() {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				openTab(t, chrome, address).view(name, path, string(axe))
			})
		}
		t.Run("hostile", func(t *testing.T) {
			t.Parallel()
			openTab(t, chrome, served(t, hostileWorkspace(t))).hostile()
		})
		t.Run("watchful", func(t *testing.T) {
			t.Parallel()
			openTab(t, chrome, address).watchful(string(axe))
		})
	})
	t.Run("keys", func(t *testing.T) { openTab(t, chrome, address).keys() })
	t.Run("typing", func(t *testing.T) { openTab(t, chrome, address).typing() })
	t.Run("forms", func(t *testing.T) { // as that which resolves a conflict: with its own origin
		b := openTab(t, chrome, address)
		b.show("/sessions")
		get[any](b, `document.body.insertAdjacentHTML("beforeend", '<form method="post" action="/resolve"><input name="name" value="x"></form>'); `+
			`document.forms[document.forms.length - 1].submit()`)
		b.until(`document.body.innerText.includes("these pages only read")`)
	})
	t.Run("deciding", func(t *testing.T) {
		mustRun(t, dir, "knowledge", "add", "--type=gotcha", "--content=Wombats dig at night", "--json")
		mustRun(t, dir, "knowledge", "add", "--type=gotcha", "--content=At night wombats dig", "--json")
		first, _ := servedBy(t, dir, "--write")
		b := openTab(t, chrome, first)
		b.show("/review")
		get[any](b, string(axe)+";0")
		b.accessible("/review --write")
		b.narrow("/review")
		b.show("/review")
		buttons := `[...document.querySelectorAll("form[action='/decide'] button")].filter((e) => e.checkVisibility())`
		if n := get[int](b, buttons+`.length`); n == 0 || n%4 != 0 {
			t.Fatalf("%d buttons decide, want 4 of each pair", n)
		}
		get[any](b, buttons+`.find((e) => e.value === "both").click()`)
		b.until(`document.readyState === "complete" && document.body.innerText.includes("Nothing is to be decided")`)
	})
	t.Run("late", func(t *testing.T) { // the answer for where the page was, after it has gone elsewhere
		b := openTab(t, chrome, address)
		b.show("/search?q=token+bucket")
		get[any](b, `{const ask = window.fetch; window.fetch = async (to, how) => {
			const answer = await ask(to, how);
			if (!window.late && how.headers["HX-Source"].startsWith("main")) await new Promise((go) => { window.late = go; });
			return answer;
		}; document.body.dispatchEvent(new CustomEvent("filebus:changed"))}`)
		b.until(`!!window.late`)
		get[any](b, `document.querySelector("#main .entry:not([aria-current]) a").click()`)
		second := `document.querySelectorAll(".hits > .entry")[1].matches("[aria-current]")`
		b.until(second)
		if !get[bool](b, `new Promise((is) => { late(); setTimeout(() => is(`+second+`), 500); })`) {
			t.Error("the record that was opened is gone")
		}
	})
	t.Run("beside", func(t *testing.T) { openTab(t, chrome, address).beside() })
	t.Run("live", func(t *testing.T) { openTab(t, chrome, address).live(dir) })
}

// view looks at a page of the sample workspace.
func (b *tab) view(name, path, axe string) {
	b.t.Helper()
	if status := b.show(path); status != 200 {
		b.t.Errorf("%s: status %d: %s", path, status, get[string](b, `document.body.innerText`))
	}
	get[any](b, axe+";0")
	for _, scheme := range []string{"light", "dark"} {
		b.prefer(scheme, "reduce") // else colours change slowly
		b.accessible(path + " " + scheme)
	}
	b.still(path)
	b.picture(name, path)
	b.narrow(path)
	b.plain(path)
}

// still holds that nothing on a page moves where motion is to be reduced.
func (b *tab) still(path string) {
	b.t.Helper()
	moves := `[...document.querySelectorAll("*")].filter((e) => {const s = getComputedStyle(e); ` +
		`return parseFloat(s.transitionDuration) > 0 || s.animationName !== "none"}).length`
	b.prefer("light", "no-preference")
	if n := get[int](b, moves); n == 0 && path == "/" {
		b.t.Error("nothing moves where motion is welcome: the test finds nothing")
	}
	b.prefer("light", "reduce")
	if get[int](b, moves) != 0 {
		b.t.Errorf("%s: something moves where motion is to be reduced", path)
	}
}

// accessible asks axe, which the page has, for what keeps people out.
func (b *tab) accessible(where string) {
	b.t.Helper()
	found := get[[]struct {
		ID, Impact, Help string
		Nodes            []struct{ HTML string }
	}](b, `axe.run(document, {runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]})`+
		`.then((r) => r.violations.map((v) => ({ID: v.id, Impact: v.impact, Help: v.help, Nodes: v.nodes.map((n) => `+
		`({HTML: n.html.slice(0, 200) + " " + n.any.map((a) => a.message).join("; ")}))})))`)
	for _, v := range found {
		b.t.Errorf("%s: %s (%s, %s) %d times, such as %s", where, v.Help, v.ID, v.Impact, len(v.Nodes), v.Nodes[0].HTML)
	}
}

// narrow holds that a page of a telephone's width is not scrolled sideways.
func (b *tab) narrow(path string) {
	b.t.Helper()
	b.do(chromedp.EmulateViewport(360, 640))
	b.show(path)
	if width := get[int](b, `document.documentElement.scrollWidth`); width > 360 {
		wide := get[[]string](b, `[...document.querySelectorAll("main *")].filter((e) => e.getBoundingClientRect().right > 361)`+
			`.slice(0, 3).map((e) => e.outerHTML.slice(0, 150))`)
		b.t.Errorf("%s is %d wide on a screen of 360: %q", path, width, wide)
	}
	b.touchable(path)
	b.do(chromedp.EmulateViewport(1200, 800))
}

// touchable holds that nine of ten targets are at least 24 pixels high and wide, for a finger.
func (b *tab) touchable(path string) {
	b.t.Helper()
	found := get[struct {
		All   int
		Small []string
	}](b, `(() => { const all = [...document.querySelectorAll("a[href], button, select, summary, input:not([type=hidden])")].filter((e) => e.checkVisibility({visibilityProperty: true}) && !e.closest(".hidden, .skip") && !e.matches(".anchor, svg a"));
		const small = all.filter((e) => { const r = e.getBoundingClientRect(); return r.height < 23.5 || r.width < 23.5 });
		return {All: all.length, Small: small.map((e) => e.outerHTML.slice(0, 120))} })()`)
	if 10*len(found.Small) > found.All {
		b.t.Errorf("%s: of %d targets %d are too small for a finger, such as %q", path, found.All, len(found.Small), found.Small[:min(4, len(found.Small))])
	}
}

// plain holds that a page says the same without script, and has no buttons that do nothing.
func (b *tab) plain(path string) {
	b.t.Helper()
	b.show(path)
	with := get[string](b, `document.querySelector("h1").innerText`)
	call(b, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	b.show(path)
	if without := get[string](b, `document.querySelector("h1").innerText`); with != without {
		b.t.Errorf("%s: without script it is headed %q, else %q", path, without, with)
	}
	idle := get[[]string](b, `[...document.querySelectorAll("button")].filter((e) => e.checkVisibility() && !e.form)`+
		`.map((e) => e.outerHTML)`)
	if len(idle) > 0 {
		b.t.Errorf("%s: without script these do nothing: %q", path, idle)
	}
	call(b, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{})
}

// picture writes a picture of a page for the documents, if it is asked for: in few colours.
func (b *tab) picture(name, path string) {
	b.t.Helper()
	b.prefer("light", "no-preference")
	if !*pictures {
		return
	}
	b.show(path)
	time.Sleep(time.Second) // until nothing moves, and what is drawn by script is there
	shot, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
	must(b.t, err)
	full, err := png.Decode(bytes.NewReader(shot))
	must(b.t, err)
	few := image.NewPaletted(full.Bounds(), palette(full))
	draw.Draw(few, few.Bounds(), full, image.Point{}, draw.Src)
	var out bytes.Buffer
	must(b.t, (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&out, few))
	if out.Len() > 100<<10 {
		b.t.Errorf("the picture %s has %d bytes", name, out.Len())
	}
	file := filepath.Join("..", "..", "docs", "page", name+".png")
	must(b.t, os.MkdirAll(filepath.Dir(file), 0o777))
	must(b.t, os.WriteFile(file, out.Bytes(), 0o666))
}

// palette returns the colours that a picture has most of.
func palette(picture image.Image) color.Palette {
	count := map[color.RGBA]int{}
	for y := picture.Bounds().Min.Y; y < picture.Bounds().Max.Y; y++ {
		for x := picture.Bounds().Min.X; x < picture.Bounds().Max.X; x++ {
			r, g, b, _ := picture.At(x, y).RGBA()
			count[color.RGBA{uint8(r>>8) | 3, uint8(g>>8) | 3, uint8(b>>8) | 3, 255}]++
		}
	}
	all := make([]color.RGBA, 0, len(count))
	for c := range count {
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b color.RGBA) int { return count[b] - count[a] })
	var most color.Palette
	for _, c := range all[:min(len(all), 256)] {
		most = append(most, c)
	}
	return most
}

// press types keys as a keyboard does: what a page takes for a command types nothing.
func press(keys string) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		for _, r := range keys {
			all := kb.Encode(r)
			down, up := *all[0], *all[len(all)-1]
			if len(all) == 3 {
				down.Text, down.UnmodifiedText = all[1].Text, all[1].UnmodifiedText
			}
			for _, key := range []input.DispatchKeyEventParams{down, up} {
				if _, err := cdp.Call(ctx, target, input.DispatchKeyEvent, key); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// keys goes through pages with the keyboard alone.
func (b *tab) keys() {
	b.t.Helper()
	at := func() string {
		return get[string](b, `document.activeElement.id || document.activeElement.textContent.trim()`)
	}
	b.show("/")
	b.do(press("\t"))
	if got := at(); got != "Skip to the content" {
		b.t.Errorf("Tab comes first to %q", got)
	}
	var order []string
	for range 4 {
		b.do(press("\t"))
		order = append(order, at())
	}
	if got := fmt.Sprint(order); got != "[filebus Now Search Issues]" {
		b.t.Errorf("Tab goes to %s", got)
	}
	b.do(press("?"))
	if !get[bool](b, `document.getElementById("keys").open`) {
		b.t.Error("? does not show the keys")
	}
	b.do(press("\x1b"))
	b.until(`!document.getElementById("keys").open`)
	for range 40 { // more than there are entries
		b.do(press("j"))
	}
	last := get[int](b, `[...document.querySelectorAll("#main .entry")].findIndex((e) => e.classList.contains("at"))`)
	if all := get[int](b, `document.querySelectorAll("#main .entry").length`); last < 1 || all < 2 {
		b.t.Errorf("j leads to entry %d of %d", last, all)
	}
	get[bool](b, `addEventListener("htmx:after:swap", () => { window.swapped = true; }) === undefined`)
	get[bool](b, `document.body.dispatchEvent(new CustomEvent("filebus:changed"))`)
	b.until(`window.swapped && [...document.querySelectorAll("#main .entry")].at(-1).classList.contains("at")`)
	b.do(press("k"))
	if got := get[int](b, `[...document.querySelectorAll("#main .entry")].findIndex((e) => e.classList.contains("at"))`); got != last-1 {
		b.t.Errorf("k leads from entry %d to %d", last, got)
	}
	b.do(press("/"))
	b.until(`document.activeElement.id === "q"`)
	get[bool](b, `window.before = true`)
	b.do(press("token bucket"), press("\r"))
	b.until(`!window.before && document.readyState === "complete" && location.search.includes("q=token") && document.querySelectorAll(".hits .entry").length > 0`)
	b.do(press("\x1b"))
	passage := `document.querySelector("aside .passage") !== null`
	b.until(passage)             // of the first hit
	b.do(press("j"), press("j")) // the record of the second one comes beside the hits, and the address says so
	b.until(`location.search.includes("name=") && document.querySelectorAll(".hits > .entry")[1].matches("[aria-current]") && ` + passage)
	b.do(press("\r"))
	b.until(`document.readyState === "complete" && location.pathname === "/record" && document.querySelector("#main .passage") !== null`)
	b.do(press("gd"))
	b.until(`document.readyState === "complete" && location.pathname === "/dialogues"`)
	b.do(press("gn"))
	b.until(`location.pathname === "/"`)
}

// typing searches as somebody types: the address says the state, and the field keeps its focus.
func (b *tab) typing() {
	b.t.Helper()
	b.show("/")
	b.do(chromedp.Focus(chromedp.CSS("#q")), press("load tes"))
	b.until(`location.href.includes("q=load") && document.querySelectorAll(".hits .entry").length > 0`)
	if !get[bool](b, `document.activeElement.id === "q" && document.querySelector("#q").value === "load tes"`) {
		b.t.Error("the field has lost what was typed, or its focus")
	}
	b.until(`document.querySelector("mark") !== null`)
	b.do(press("t<script>alert(1)</script>"))
	b.until(`location.search.includes("alert")`)
	b.do(chromedp.Reload())
	if got := get[string](b, `document.querySelector("#q").value`); got != "load test<script>alert(1)</script>" {
		b.t.Errorf("the address keeps %q", got)
	}
}

// beside opens a hit from far down a page: on any screen its record comes into view, and on a wide one the hit stays there.
func (b *tab) beside() {
	b.t.Helper()
	seen := `(() => { const r = document.querySelector("#main .passage")?.getBoundingClientRect(); return r && r.top < innerHeight && r.bottom > 0 })()`
	for _, width := range []int64{1200, 360} {
		b.do(chromedp.EmulateViewport(width, 640))
		b.show("/search?q=limiter")
		get[any](b, `window.far = [...document.querySelectorAll(".hits .name")].at(-1); far.scrollIntoView(); far.click()`)
		b.until(`location.search.includes("name=") && ` + seen)
		if width == 1200 && !get[bool](b, `far.getBoundingClientRect().bottom > 0 && far.getBoundingClientRect().top < innerHeight`) {
			b.t.Error("the hit that was opened is out of sight")
		}
	}
	b.do(chromedp.EmulateViewport(1200, 800))
}

// live starts and ends tasks at the command line, and sees them on the page.
func (b *tab) live(dir string) {
	b.t.Helper()
	b.show("/")
	b.until(`document.getElementById("live").textContent === "Live"`)
	time.Sleep(200 * time.Millisecond) // the follower reads the log's end first
	has := func(text string) string {
		return fmt.Sprintf(`document.querySelector("#main").innerText.includes(%q)`, text)
	}
	for i := range 3 {
		title := fmt.Sprintf("Zähler %d <b>ohne</b> Pause", i)
		mustRun(b.t, dir, "task", "start", fmt.Sprint("90", i), "--title", title, "--agent", "nachtwache")
		started := b.until(has(title))
		mustRun(b.t, dir, "task", "done", fmt.Sprint("90", i), "--summary", fmt.Sprintf("Fertig %d.", i))
		done := b.until(fmt.Sprintf(`[...document.querySelectorAll("#main .entry")].some((e) => e.innerText.includes(%q) `+
			`&& e.innerText.includes("complete"))`, title))
		b.t.Logf("a task is on the page %v after its start, and ended after %v", started, done)
	}
}
