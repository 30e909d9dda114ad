package layout

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// ParseHandoffJSON reads a handoff from a JSON object with the keys of the YAML
// form. Any value may be a scalar in place of a list or object, as there.
func ParseHandoffJSON(text []byte) (Handoff, error) {
	d := json.NewDecoder(bytes.NewReader(bytes.TrimPrefix(text, []byte(byteOrderMark))))
	d.UseNumber()
	node, err := decodeNode(d, 0)
	if err == nil {
		if _, end := d.Token(); !errors.Is(end, io.EOF) {
			err = errors.New("something follows the object")
		}
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = errors.New("it ends too early")
	}
	if err == nil && len(node.pairs) == 0 {
		err = errors.New("it is no object with keys such as outcome and summary")
	}
	if err != nil {
		return Handoff{}, fmt.Errorf("reading the handoff as JSON: %w", err)
	}
	return handoffOf(node), nil
}

// decodeNode reads one value as the YAML reader would have it.
func decodeNode(d *json.Decoder, depth int) (n yamlNode, err error) {
	if depth > maxYAMLDepth {
		return n, fmt.Errorf("nested more than %d levels deep", maxYAMLDepth)
	}
	token, err := d.Token()
	if err != nil {
		return n, err
	}
	switch token {
	case nil:
		return n, nil
	case json.Delim('['):
		for d.More() {
			item, err := decodeNode(d, depth+1)
			if err != nil {
				return n, err
			}
			n.list = append(n.list, item)
		}
		_, err = d.Token()
		return n, err
	case json.Delim('{'):
		for d.More() {
			key, err := d.Token()
			if err != nil {
				return n, err
			}
			value, err := decodeNode(d, depth+1)
			if err != nil {
				return n, err
			}
			n.pairs = append(n.pairs, yamlPair{fmt.Sprint(key), value})
		}
		_, err = d.Token()
		return n, err
	}
	n.scalar = fmt.Sprint(token)
	return n, nil
}
