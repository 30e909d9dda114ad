package result

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"filebus/materialize"
)

// callVersion is the version of call.json.
const callVersion = 1

// A spooledCall is call.json: what is known of a command that runs.
type spooledCall struct {
	Version int `json:"version"`
	Call
	Command []string  `json:"command"` // for whoever looks into the folder; long ones are cut
	Started time.Time `json:"started"`
	PID     int       `json:"pid"`
	Host    string    `json:"host"`
}

// An ending is end.json: how a command has ended.
type ending struct {
	Status string `json:"status"`
	Exit   *int   `json:"exit"`
}

// maxSpooledJSON is the longest JSON file of a spool that is read, in bytes.
const maxSpooledJSON = 16 << 20

// readJSON reads one JSON object with the known keys and nothing else from a
// regular file.
func readJSON(file string, to any) error {
	info, err := os.Lstat(file)
	switch {
	case err != nil:
		return err
	case !info.Mode().IsRegular() || info.Size() > maxSpooledJSON:
		return fmt.Errorf("%s is not a file of filebus", file)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(to); err != nil {
		return fmt.Errorf("reading %s: %w", file, err)
	}
	if _, err := decoder.Token(); err != io.EOF {
		return fmt.Errorf("reading %s: there is something behind its object", file)
	}
	return nil
}

func readCall(file string) (spooledCall, error) {
	var c spooledCall
	if err := readJSON(file, &c); err != nil {
		return c, err
	}
	if c.Version != callVersion {
		return c, fmt.Errorf("reading %s: version %d; this filebus knows %d", file, c.Version, callVersion)
	}
	_, err := resultName(c.Conversation, c.ID)
	return c, err
}

// readEnding reads how a command has ended. Nil means that nobody knows.
func readEnding(file string) *ending {
	var end ending
	if err := readJSON(file, &end); err != nil || end.Exit == nil {
		return nil
	}
	switch end.Status {
	case materialize.StatusDone, materialize.StatusFailed, materialize.StatusKilled, materialize.StatusTimeout:
		return &end
	}
	return nil
}

// writeFile writes a file that is either whole or not there; a synced one survives
// the machine.
func writeFile(file string, text []byte, synced bool) error {
	f, err := os.OpenFile(file+newSuffix, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err == nil && synced {
		err = f.Sync()
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err := os.Rename(file+newSuffix, file); err != nil || !synced {
		return err
	}
	return syncFolder(filepath.Dir(file))
}

// maxSpooledCommand is how much of a command line is kept, in bytes.
const maxSpooledCommand = 4096

func spooled(c Call, args []string) spooledCall {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown host"
	}
	kept, left := []string{}, maxSpooledCommand
	for _, arg := range args {
		if len(arg) > left {
			kept = append(kept, "…")
			break
		}
		kept, left = append(kept, arg), left-len(arg)
	}
	c.Agent = c.Facts().Agent
	return spooledCall{callVersion, c, kept, time.Now().UTC(), os.Getpid(), host}
}
