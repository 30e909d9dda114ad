package cli

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// A pager stands before a terminal. Of a command that is to be read it holds back a screen;
// what is longer goes through the user's program for that.
type pager struct {
	to      io.Writer
	command []string // and its arguments; none: all goes on to the terminal
	env     []string
	rows    int
	held    []byte
	in      io.WriteCloser // of the program; nil: it does not run
	program *exec.Cmd
	notes   io.Writer // the terminal for all else
	late    []byte    // that, while the program runs
	signals func(which []os.Signal) <-chan os.Signal
}

// A pagerNotes takes what is no result, which must not stand amid what the pager shows.
type pagerNotes struct{ *pager }

func (n pagerNotes) Write(text []byte) (int, error) {
	if n.in == nil {
		return n.notes.Write(text)
	}
	n.late = append(n.late, text...)
	return len(text), nil
}

// Page lets the result of a command go through the pager, if it is one to read.
func (e *Environ) Page(cmd *cobra.Command) {
	text := cmp.Or(e.Or("", "FILEBUS_PAGER", "PAGER"), "less")
	isEmpty := func(name string) bool { return slices.Contains(e.Variables, name+"=") }
	if isEmpty("FILEBUS_PAGER") || e.Getenv("FILEBUS_PAGER") == "" && isEmpty("PAGER") {
		text = "cat"
	}
	isRead := strings.Contains("/get/show/list/search/log/help/guide/context/status/preview/lint/diff/tags/related/", "/"+cmd.Name()+"/")
	for _, flag := range []string{"follow", "interactive"} {
		isRead = isRead && !cmd.Flags().Changed(flag)
	}
	if isRead && !e.Global.JSON && e.pager != nil && e.pager.rows > 0 && e.Getenv("TERM") != "dumb" && text != "cat" {
		e.pager.command = strings.Fields(text)
		e.pager.env = slices.Concat([]string{"LESS=FRX"}, e.Variables) // the later one counts
	}
}

// Write holds text back until it is more than a screen, and starts the program then. It is no
// error that somebody has read enough.
func (p *pager) Write(text []byte) (int, error) {
	if len(p.command) == 0 {
		return p.to.Write(text)
	}
	if p.in == nil {
		if p.held = append(p.held, text...); bytes.Count(p.held, []byte("\n")) < p.rows {
			return len(text), nil
		}
		program := exec.Command(p.command[0], p.command[1:]...)
		program.Stdout, program.Stderr, program.Env = p.to, os.Stderr, p.env
		in, err := program.StdinPipe()
		if err == nil {
			err = program.Start()
		}
		if err != nil { // there is none
			p.command = nil
			_, err = p.to.Write(p.held)
			return len(text), err
		}
		if p.signals != nil { // an interrupt is the program's
			p.signals([]os.Signal{os.Interrupt})
		}
		p.in, p.program, text = in, program, p.held
	}
	_, _ = p.in.Write(text)
	return len(text), nil
}

// Close writes what was held back, or waits until all is read.
func (p *pager) Close() error {
	if p.in == nil {
		_, err := p.to.Write(p.held)
		return err
	}
	_ = errors.Join(p.in.Close(), p.program.Wait())
	_, err := p.notes.Write(p.late)
	return err
}
