package record_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"filebus/store/record"
)

func TestFrame(t *testing.T) {
	f := record.Frame{
		{Text: []byte("# Queue\n\n")},
		{Slot: record.Name{Tree: "lib", Kind: record.KindIssue, ID: "I-1"}},
		{Text: []byte("\xff\x00 slot 3 x\n")},
		{Slot: record.Name{Tree: "lib", Kind: record.KindKnowledge, ID: "a b/c.md#d~2"}},
	}
	encoded := f.Encode()
	want := "filebus frame 1\ntext 9 # Queue\n\n\nslot 9 issue/I-1\ntext 12 \xff\x00 slot 3 x\n\nslot 22 knowledge/a b/c.md#d~2\n"
	if diff := cmp.Diff(want, string(encoded)); diff != "" {
		t.Errorf("Encode (-want +got):\n%s", diff)
	}
	got, err := record.DecodeFrame("lib", encoded)
	if diff := cmp.Diff(f, got); err != nil || diff != "" {
		t.Errorf("DecodeFrame: %v (-want +got):\n%s", err, diff)
	}
	if diff := cmp.Diff([]record.Name{f[1].Slot, f[3].Slot}, f.Slots()); diff != "" {
		t.Errorf("Slots (-want +got):\n%s", diff)
	}
}

func TestDecodeFrameRefuses(t *testing.T) {
	for label, text := range map[string]string{
		"nothing":           "",
		"another header":    "filebus frame 2\n",
		"no length":         "filebus frame 1\ntext\n",
		"a long length":     "filebus frame 1\ntext 9 abc\n",
		"a short length":    "filebus frame 1\ntext 2 abc\n",
		"a leading zero":    "filebus frame 1\ntext 03 abc\n",
		"no line end":       "filebus frame 1\ntext 3 abc",
		"an unknown piece":  "filebus frame 1\nhole 3 abc\n",
		"a bad name":        "filebus frame 1\nslot 3 abc\n",
		"a tree":            "filebus frame 1\nslot 11 lib:issue/x\n",
		"a negative length": "filebus frame 1\ntext -1 a\n",
		"a huge length":     "filebus frame 1\ntext 99999999999999999999 a\n",
		"an unknown kind":   "filebus frame 1\nslot 7 nokin/A\n",
		"a slot without id": "filebus frame 1\nslot 5 issue\n",
		"no key":            "filebus frame 1\n 7 0000000\n",
		"bytes behind":      "filebus frame 1\ntext 3 abc\nx",
	} {
		var e *record.Error
		if f, err := record.DecodeFrame("", []byte(text)); err == nil {
			t.Errorf("%s: %q was decoded as %v", label, text, f)
		} else if !errors.As(err, &e) || e.Code != record.Damaged || !strings.HasPrefix(e.Hint, "update filebus") { // no repair helps
			t.Errorf("%s: %v says %+v", label, err, e)
		}
	}
}

func FuzzDecodeFrame(f *testing.F) {
	f.Add([]byte("filebus frame 1\ntext 3 abc\nslot 7 issue/x\n"))
	f.Add([]byte("filebus frame 1\ntext 0 \n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		frame, err := record.DecodeFrame("", data)
		if err == nil && !bytes.Equal(frame.Encode(), data) {
			t.Errorf("%q was decoded and encodes as %q", data, frame.Encode())
		}
	})
}
