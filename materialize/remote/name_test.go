package remote_test

import (
	"errors"
	"strings"
	"testing"

	"filebus/materialize/remote"
	"filebus/store/record"
)

func TestNames(t *testing.T) {
	t.Parallel()
	digest := record.DigestOf(nil)
	for _, test := range []struct {
		name remote.Name
		kind remote.Kind
		want string
	}{
		{remote.StateName(storeA), remote.KindState, string(storeA) + "/state"},
		{
			remote.SegmentName(storeA, remote.Span{Origin: storeB, First: 1, Last: 9}), remote.KindSegment,
			string(storeA) + "/log/" + string(storeB) + "/" + first,
		},
		{
			remote.SegmentName(storeA, remote.Span{Origin: storeA, First: 1<<64 - 1, Last: 1<<64 - 1}), remote.KindSegment,
			string(storeA) + "/log/" + string(storeA) + "/18446744073709551615-18446744073709551615",
		},
		{remote.BodyName(storeB, digest), remote.KindBody, string(storeB) + "/bodies/e3/" + digest.String()},
	} {
		if got := test.name.String(); got != test.want {
			t.Errorf("String = %q, want %q", got, test.want)
		}
		parsed, err := remote.ParseName(test.want)
		if err != nil || parsed != test.name || parsed.Kind() != test.kind || parsed.Check() != nil {
			t.Errorf("ParseName(%q) = %v, %v", test.want, parsed, err)
		}
	}
	for _, zero := range []remote.Name{
		remote.StateName(""), remote.StateName("../../etc"), remote.BodyName("x", digest), remote.SegmentName(storeA, remote.Span{}),
		remote.SegmentName(storeA, remote.Span{Origin: storeA, First: 0, Last: 1}), remote.SegmentName(storeA, remote.Span{Origin: storeA, First: 2, Last: 1}),
		remote.SegmentName(storeA, remote.Span{Origin: "..", First: 1, Last: 1}), remote.SegmentName("", remote.Span{Origin: storeA, First: 1, Last: 1}),
	} {
		if zero != (remote.Name{}) || zero.String() != "" || !errors.Is(zero.Check(), record.Usage) {
			t.Errorf("a name of wrong parts is %q, want the zero Name", zero)
		}
	}
}

// hostile are texts that name no blob.
func hostile() []string {
	a, digest := string(storeA), record.DigestOf(nil).String()
	return []string{
		"", "/", "..", ".", "state", "/state", a, a + "/", a + "//state", a + "/state/", a + "/State", a + "/state\x00", a + "/./state", a + "/x/../state",
		"../" + a + "/state", strings.ToUpper(a) + "/state", a[:31] + "/state", a + "a/state", a + `\state`, a + "/log/" + a + "/1-9", a + "/log/" + first,
		a + "/log/../" + first, a + "/log/" + a + "/" + first + "/", a + "/log/" + a + "/" + first + "x", a + "/log/" + strings.ToUpper(a) + "/" + first,
		a + "/log/" + a + "/+0000000000000000001-00000000000000000009", a + "/log/" + a + "/00000000000000000002_00000000000000000009",
		a + "/log/" + a + "/00000000000000000000-00000000000000000000", a + "/bodies/e3/" + digest[:63], a + "/bodies/e4/" + digest, a + "/bodies/" + digest,
		a + "/bodies/e3/" + strings.ToUpper(digest), a + "/bodies/e3/" + digest + "/x", a + "/bodies//", strings.Repeat("a/", 1<<20),
	}
}

func TestParseNameHostile(t *testing.T) {
	t.Parallel()
	for _, text := range hostile() {
		if n, err := remote.ParseName(text); !errors.Is(err, record.Usage) || n != (remote.Name{}) || len(err.Error()) > 1000 {
			t.Errorf("ParseName(%.200q) = %q, %v; want a usage error", text, n, err)
		}
	}
}

func FuzzParseName(f *testing.F) {
	for _, text := range hostile()[:30] {
		f.Add(text)
	}
	f.Add(string(storeA) + "/state")
	f.Add(string(storeA) + "/log/" + string(storeB) + "/" + first)
	f.Add(string(storeA) + "/bodies/e3/" + record.DigestOf(nil).String())
	f.Fuzz(func(t *testing.T, text string) {
		if n, err := remote.ParseName(text); err == nil && n.String() != text {
			t.Errorf("ParseName(%q).String() = %q", text, n)
		}
	})
}
