package layout

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"filebus/materialize/markdown"
)

// ParseHandoffJSON reads a handoff from a JSON object with the keys of the YAML
// form. Any value may be a scalar in place of a list or object, as there.
func ParseHandoffJSON(text []byte) (Handoff, error) {
	d := json.NewDecoder(bytes.NewReader(bytes.TrimPrefix(text, []byte(markdown.ByteOrderMark))))
	d.UseNumber()
	node, err := markdown.DecodeJSONNode(d, 0)
	if err == nil {
		if _, end := d.Token(); !errors.Is(end, io.EOF) {
			err = errors.New("something follows the object")
		}
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = errors.New("it ends too early")
	}
	if err == nil && len(node.Pairs) == 0 {
		err = errors.New("it is no object with keys such as outcome and summary")
	}
	if err != nil {
		return Handoff{}, fmt.Errorf("reading the handoff as JSON: %w", err)
	}
	return handoffOf(node), nil
}
