package index

import (
	"encoding/json"
	"testing"
)

func TestShared(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		a, b, want string
	}{
		{"tokens are cached", "cached token", "1"}, // endings and stop words tell nothing
		{"retry the login", "retry the export", "0.5"},
		{"login retry limit", "retry", "0.5"},
		{"login", "export", "0"},
		{"", "", "0"},
		{"one two login", "login", "0.5"},
		{"alpha beta gamma", "alpha delta epsilon", "0.33"},
	} {
		_, share := Shared(Terms(test.a), Terms(test.b))
		got, err := json.Marshal(share)
		if err != nil || string(got) != test.want {
			t.Errorf("%q and %q share %s, %v; want %s", test.a, test.b, got, err, test.want)
		}
	}
}
