package record_test

import (
	"testing"

	"filebus/store/record"
)

func TestIsHidden(t *testing.T) {
	for _, r := range "\x00\x07\b\t\n\r\x1b\x7f\u0080\u009b\u009f\u00ad\u061c\u180e\u200b\u200c\u200d\u200e\u200f" +
		"\u2028\u2029\u202a\u202e\u2060\u2066\u2069\ufeff\ufff9\U000e0001\U000e007f" {
		if !record.IsHidden(r) {
			t.Errorf("%U is shown", r)
		}
	}
	for _, r := range "aé \u00a0字ع\u0600\u0301\ufe0f\U0001f600\ue000\ufffd~" {
		if record.IsHidden(r) {
			t.Errorf("%U is hidden", r)
		}
	}
	for _, c := range []struct {
		before, r rune
		want      bool
	}{
		{'\U0001f468', '\u200d', true}, {'\ufe0f', '\u200d', true}, {'ن', '\u200c', true}, {'क', '\u200d', true},
		{'a', '\u200d', false}, {' ', '\u200c', false}, {'\u200d', '\u200d', false}, {'क', '\u200b', false}, {0, '\u200d', false},
	} {
		if got := record.Joins(c.before, c.r); got != c.want {
			t.Errorf("Joins(%U, %U) = %v, want %v", c.before, c.r, got, c.want)
		}
	}
}
