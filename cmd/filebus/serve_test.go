package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"filebus/cmd/filebus/cli"
)

// A visitor is a browser that has been at the first address.
type visitor struct {
	t    *testing.T
	http http.Client
	base string
}

func visit(t *testing.T, first *url.URL) *visitor {
	t.Helper()
	jar, err := cookiejar.New(nil)
	must(t, err)
	v := &visitor{t: t, http: http.Client{Jar: jar}, base: "http://" + first.Host}
	if status, text := v.get("/?" + first.RawQuery); status != 200 {
		t.Fatalf("the first page: %d %s", status, text)
	}
	return v
}

func (v *visitor) get(path string) (status int, text string) {
	v.t.Helper()
	response, err := v.http.Get(v.base + path)
	if err != nil {
		v.t.Fatal(err)
	}
	body, err := io.ReadAll(response.Body)
	must(v.t, errors.Join(err, response.Body.Close()))
	return response.StatusCode, string(body)
}

// hears opens the stream of events, and returns its lines.
func (v *visitor) hears() <-chan string {
	v.t.Helper()
	response, err := v.http.Get(v.base + "/events")
	if err != nil {
		v.t.Fatal(err)
	}
	v.t.Cleanup(func() { _ = response.Body.Close() }) // it never ends by itself
	lines := make(chan string, 1000)
	go func() {
		for scanner := bufio.NewScanner(response.Body); scanner.Scan(); {
			lines <- scanner.Text()
		}
		close(lines)
	}()
	return lines
}

// heading returns what a page says first.
func heading(text string) string {
	if found := regexp.MustCompile(`<h1[^>]*>(.*?)</h1>`).FindStringSubmatch(text); found != nil {
		return found[1]
	}
	return text
}

// TestServedPort starts servers at a port that is taken: the words name it, and what they advise works.
func TestServedPort(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	mustRun(t, dir, "init", "--yes")
	first := served(t, dir)
	cmd := filebusCommand(t, dir, "serve", "--port", first.Port())
	said, err := cmd.CombinedOutput()
	if cmd.ProcessState.ExitCode() != cli.ExitUsage || !strings.Contains(string(said), "port "+first.Port()+" cannot be used") ||
		!strings.Contains(string(said), "--port 0") {
		t.Errorf("at a port that is taken: %v\n%s", err, said)
	}
	for _, port := range []string{"-1", "65536", "eins"} {
		cmd := filebusCommand(t, dir, "serve", "--port", port)
		if said, err := cmd.CombinedOutput(); cmd.ProcessState.ExitCode() != cli.ExitUsage {
			t.Errorf("at port %s: %v\n%s", port, err, said)
		}
	}
	second := served(t, dir) // --port 0
	one, two := visit(t, first), visit(t, second)
	two.http.Jar.SetCookies(&url.URL{Scheme: "http", Host: first.Host}, one.http.Jar.Cookies(&url.URL{Scheme: "http", Host: first.Host}))
	for _, v := range []*visitor{one, two, one} { // their cookies are of one host
		if status, text := v.get("/"); status != 200 || heading(text) != "Now" {
			t.Errorf("of two servers: %d %s", status, heading(text))
		}
	}
	strange := &visitor{t: t, base: one.base}
	if status, _ := strange.get("/?" + second.RawQuery); status != 401 {
		t.Errorf("the token of another server is answered with %d", status)
	}
}

// TestServedInterrupt ends servers whose pages are open.
func TestServedInterrupt(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("processes cannot be interrupted from outside")
	}
	dir := t.TempDir()
	mustRun(t, dir, "init", "--yes")
	cmd := filebusCommand(t, dir, "serve", "--port=0")
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	must(t, err)
	first, err := url.Parse(strings.TrimSpace(line))
	must(t, err)
	lines := visit(t, first).hears()
	<-lines
	must(t, cmd.Process.Signal(os.Interrupt))
	tooLate := time.AfterFunc(bound, func() { _ = cmd.Process.Kill() })
	_ = cmd.Wait() // the exit code tells
	if !tooLate.Stop() || cmd.ProcessState.ExitCode() != cli.ExitInterrupted &&
		cmd.ProcessState.ExitCode() != cli.ExitDone {
		t.Errorf("interrupted, it ends with %d", cmd.ProcessState.ExitCode())
	}
}

// TestServedStore takes the store away, puts another there, and damages it, while pages are open:
// each says what is wrong, and when all is well again, so are the pages.
func TestServedStore(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	mustRun(t, dir, "init", "--yes")
	mustRun(t, dir, "knowledge", "add", "--type", "gotcha", "--content", "Das Erste")
	v := visit(t, served(t, dir))
	lines := v.hears()
	store := filepath.Join(dir, ".filebus")
	all := []string{"/", "/search?q=Erste", "/record?name=nichts", "/dialogues", "/knowledge", "/sessions", "/budget", "/health"}
	each := func(when string, fine func(path string, status int, text string) bool) {
		t.Helper()
		defer func(start time.Time) { t.Logf("%s: %v", when, time.Since(start)) }(time.Now())
		for _, path := range all {
			if status, text := v.get(path); !fine(path, status, text) {
				t.Errorf("%s: %s = %d %.300s", when, path, status, heading(text))
			}
		}
	}
	works := func(path string, status int, text string) bool {
		return status == 200 || path == "/record?name=nichts" && status == 404 && strings.Contains(text, "nichts")
	}
	each("at first", works)

	must(t, os.Rename(store, store+".away"))
	each("without a store", func(_ string, status int, text string) bool {
		return status >= 400 && strings.Contains(text, "no store") || status == 200 || status == 404
	})
	if _, err := os.Stat(store); err == nil {
		t.Error("a page has made a store")
	}

	mustRun(t, dir, "init", "--yes")
	mustRun(t, dir, "knowledge", "add", "--type", "gotcha", "--content", "Der Zweite ist anders")
	each("with another store", works)
	if _, text := v.get("/search?q=Zweite"); !strings.Contains(text, "1 found") {
		t.Errorf("the other store is not searched: %s", text)
	}

	must(t, os.WriteFile(filepath.Join(store, "store.db"), bytes.Repeat([]byte("kein Speicher"), 5000), 0o666))
	each("with a damaged store", func(path string, status int, text string) bool {
		return (status >= 500 || path == "/health") && strings.Contains(text, "store") && !strings.Contains(text, "panic")
	})

	must(t, os.RemoveAll(store))
	must(t, os.Rename(store+".away", store))
	each("with the first one again", works)
	for len(lines) > 0 {
		<-lines
	}
	mustRun(t, dir, "knowledge", "add", "--type", "gotcha", "--content", "Das Dritte")
	for late := time.After(time.Minute); ; {
		select {
		case line, open := <-lines:
			if strings.HasPrefix(line, "data: ") {
				return
			}
			if !open {
				t.Fatal("the stream has ended")
			}
		case <-late:
			t.Fatal("after the store was away no change is told")
		}
	}
}

// TestServedNothing serves a folder without a store.
func TestServedNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first := served(t, dir)
	jar, err := cookiejar.New(nil)
	must(t, err)
	v := &visitor{t: t, http: http.Client{Jar: jar}, base: "http://" + first.Host}
	for _, path := range []string{"/?" + first.RawQuery, "/search?q=x", "/dialogues", "/knowledge", "/sessions", "/budget", "/health"} {
		if status, text := v.get(path); path == "/health" && status == 200 && strings.Contains(text, "store") {
			continue // doctor says it
		} else if status != 500 || !strings.HasSuffix(heading(text), "no store") || !strings.Contains(text, "filebus init") {
			t.Errorf("%s = %d %s", path, status, heading(text))
		}
	}
	if _, err := os.Stat(filepath.Join(dir, ".filebus")); err == nil {
		t.Error("a page has made a store")
	}
}

// TestServedLive measures how soon a put is told, and that what was told reads as the log says it.
func TestServedLive(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	mustRun(t, dir, "init", "--yes")
	v := visit(t, served(t, dir))
	lines := v.hears()
	slowest := time.Duration(0)
	for i := range 5 {
		cmd := filebusCommand(t, dir, "put", "--agent", fmt.Sprint("wächter-", i), "--conversation", "c", "-")
		cmd.Stdin = strings.NewReader(fmt.Sprintf("Befund %d\r\n", i))
		said, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("put: %v %s", err, said)
		}
		stored, name := time.Now(), regexp.MustCompile(`result/c/[^ "]+`).FindString(string(said))
		for told := false; !told; {
			select {
			case line := <-lines:
				told = strings.HasPrefix(line, "data: ") && json.Valid([]byte(strings.TrimPrefix(line, "data: "))) && strings.Contains(line, name)
			case <-time.After(time.Minute):
				t.Fatal("a put is not told")
			}
		}
		slowest = max(slowest, time.Since(stored))
	}
	t.Logf("told after %v at most", slowest) // 1 s, on a machine that does nothing else
}

// TestServedSize holds what a first page weighs, with all that it loads.
func TestServedSize(t *testing.T) {
	t.Parallel()
	v := visit(t, served(t, sampleWorkspace(t)))
	_, text := v.get("/")
	all := len(text)
	for _, found := range regexp.MustCompile(`(?:src|href)="(/static/[^"]*)"`).FindAllStringSubmatch(text, -1) {
		status, asset := v.get(found[1])
		if status != 200 {
			t.Errorf("%s = %d", found[1], status)
		}
		all += len(asset)
	}
	if t.Logf("the first page and what it loads: %d bytes", all); all > 150<<10 {
		t.Errorf("the first page and what it loads have %d bytes", all)
	}
}

// TestServedMemory opens ten pages, and goes through all views of a store of thousands of records.
func TestServedMemory(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("only Linux says in /proc what a process has")
	}
	dir := sampleWorkspace(t)
	for i := range 3000 {
		name := filepath.Join(dir, "many", fmt.Sprint(i%30), fmt.Sprint(i, ".md"))
		must(t, os.MkdirAll(filepath.Dir(name), 0o777))
		must(t, os.WriteFile(name, fmt.Appendf(nil, "# Text %d\n\n%s\n", i, strings.Repeat(fmt.Sprintf("limiter word%d ", i), 100)), 0o666))
	}
	mustRun(t, dir, "capture", "many")
	first, process := servedBy(t, dir)
	v := visit(t, first)
	for range 10 {
		<-v.hears()
	}
	var slowest time.Duration
	for range 3 {
		for name, path := range sampleViews() {
			start := time.Now()
			if status, text := v.get(path); status != 200 {
				t.Errorf("%s = %d %s", path, status, heading(text))
			}
			if name == "now" {
				slowest = max(slowest, time.Since(start))
			}
		}
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", process.Pid))
	must(t, err)
	own := regexp.MustCompile(`RssAnon:\s+([0-9]+) kB`).FindSubmatch(status)
	kilobytes, err := strconv.Atoi(string(own[1]))
	must(t, err)
	// The rest of the 60 MB is the program itself, which is smaller without its tests.
	if t.Logf("%d KB of its own, the first page in %v", kilobytes, slowest); kilobytes > 40<<10 {
		t.Errorf("with ten pages the server has %d KB of its own", kilobytes)
	}
}
