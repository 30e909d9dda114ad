package secrets_test

import (
	"bytes"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"filebus/materialize/secrets"
)

// Nothing here looks like a secret before it runs: the examples are made of parts.
const (
	hex64 = "9f3c1e7ab2d84f605c1d7e3a9b0f46825e7c3d1ab49f06e2d8537c1fa04be692"
	mixed = "R4nd0mZq8Lw2Xc7Vb1Nm5Kj9Hg3Fd6Sa0PoI"
)

func examples() map[string]string {
	long := strings.Repeat("Qw3Er5Ty7Ui9Op1As2Df4Gh6Jk8Lz0Xc", 5)
	return map[string]string{
		"github-pat":                    "gh" + "p_" + mixed,
		"github-fine-grained-pat":       "github" + "_pat_" + long[:82],
		"gitlab-pat":                    "gl" + "pat-" + mixed[:20],
		"aws-access-token":              "AK" + "IA" + "Q3EGRZ7TYUP4MNB2",
		"slack-bot-token":               "xo" + "xb-" + "728193045617-728193045618" + mixed[:24],
		"stripe-access-token":           "sk_" + "live_" + mixed[:24],
		"anthropic-api-key":             "sk-" + "ant-api03-" + long[:93] + "AA",
		"openai-api-key":                "sk-" + mixed[:20] + "T3Blbk" + "FJ" + mixed[8:28],
		"npm-access-token":              "np" + "m_" + mixed,
		"sendgrid-api-token":            "S" + "G." + long[:66],
		"gcp-api-key":                   "AI" + "za" + long[:35],
		"digitalocean-pat":              "do" + "p_v1_" + hex64,
		"shopify-access-token":          "sh" + "pat_" + hex64[:32],
		"databricks-api-token":          "da" + "pi" + hex64[:32],
		"sentry-user-token":             "sntr" + "yu_" + hex64,
		"jwt":                           "ey" + "J" + mixed + ".ey" + "J" + mixed + "." + mixed,
		"private-key":                   "-----BEGIN RSA " + "PRIVATE KEY-----\n" + long + "\n-----END RSA " + "PRIVATE KEY-----",
		"datadog-access-token\tdatadog": "datadog_key = \"\t" + hex64[:40],
		"heroku-api-key\theroku":        "HEROKU_API_KEY=\t9f3c1e7a-b2d8-4f60-5c1d-7e3a9b0f4682",
		"authorization-header\t":        "curl -H 'Authorization: Bearer \t" + mixed,
		"url-password\t":                "postgres://app:\tq7Lw2Xc7Vb1N",
		"generic-api-key\t":             "\\\"api_key\\\": \\\"\t" + mixed,
		"hex-api-key\t":                 "\"EXA_API_KEY\": \"\t9f3c1e7a-b2d8-4f60-5c1d-7e3a9b0f4682",
		"aws-secret-access-key\t":       "aws_secret_access_key = \t" + long[:40],
		"hashicorp-tf-api-token":        mixed[:14] + ".atlas" + "v1." + long[:64],
		"azure-ad-client-secret":        "aB3" + "7Q~" + mixed[:33],
		"grafana-service-account-token": "gl" + "sa_" + long[:32] + "_" + hex64[:8],
		"huggingface-access-token":      "h" + "f_" + "qwErtYuiOpasDfghJklzXcvbnMqwErtYui",
		"dockerhub-access-token":        "dckr" + "_pat_" + mixed[:27],
		"google-oauth-client-secret":    "GOC" + "SPX-" + mixed[:28],
		"google-oauth-access-token":     "ya" + "29." + long[:120],
		"groq-api-key":                  "gs" + "k_" + long[:52],
		"xai-api-key":                   "xa" + "i-" + long[:80],
		"replicate-api-token":           "r" + "8_" + long[:37],
		"supabase-access-token":         "sb" + "p_" + hex64[:40],
		"figma-access-token":            "fig" + "d_" + long[:40],
		"square-client-secret":          "sq0" + "csp-" + long[:43],
		"putty-private-key\t":           "Private-Lines: 2\\r\\n\t" + long[:64] + "\\r\\n" + long[64:128],
		"azure-storage-key\t":           "AccountKey=\t" + long[:86] + "==",
		"discord-webhook-url\t":         "https://discord.com/api/webhooks/\t728193045617281930/" + long[:68],
		"telegram-bot-token\t":          "728193045:\tAA" + long[:33],
		"netrc-password\t":              "machine api.corp.net login bob password \t" + mixed[:12],
	}
}

// parts returns the rule of an example, what stands before the secret, and the secret.
func parts(rule, text string) (string, string, string) {
	rule, _, _ = strings.Cut(rule, "\t")
	before, secret, found := strings.Cut(text, "\t")
	if !found {
		before, secret = "", text
	}
	return rule, before, secret
}

func end(rule string) string {
	if rule == "url-password" {
		return "@db/x"
	}
	return "\" end"
}

// TestRules finds an example of each kind, where it stands, and takes it out so that
// nothing is found any more; also out of a stream in small pieces.
func TestRules(t *testing.T) {
	for rule, example := range examples() {
		rule, before, secret := parts(rule, example)
		text := "\ufeffone\r\n\xff two " + before + secret + end(rule) + "\r\nthree"
		found := secrets.Scan([]byte(text))
		if len(found) != 1 || found[0].Rule != rule || found[0].Line != 2 || text[found[0].Start:found[0].End] != secret {
			t.Errorf("%s: found %+v", rule, found)
			continue
		}
		want := "\ufeffone\r\n\xff two " + before + "[redacted " + rule + "]" + end(rule) + "\r\nthree"
		if got := string(secrets.Take([]byte(text), found)); got != want {
			t.Errorf("%s: taken out: %q, want %q", rule, got, want)
		}
		for _, escape := range []string{`\n`, `{\"a\":\"x\\n`, `\r\n`, `\t`, "\x1b[1;31m", `\u001b[0m`, `?key%3D`, `\u0022`} {
			if got := secrets.Scan([]byte(escape + before + secret + end(rule))); len(got) != 1 || got[0].Rule != rule {
				t.Errorf("%s behind %q: found %+v", rule, escape, got)
			}
		}
		if again := secrets.Scan([]byte(want)); len(again) > 0 {
			t.Errorf("%s: found in what is left: %+v", rule, again)
		}
		got, err := io.ReadAll(secrets.NewReader(iotest.OneByteReader(strings.NewReader(text)), true))
		if string(got) != want || err != nil {
			t.Errorf("%s: of a stream %q is left, %v", rule, got, err)
		}
	}
}

// TestNone finds nothing in what only looks like a secret.
func TestNone(t *testing.T) {
	for _, text := range []string{
		"", "gh" + "p_", "gh" + "p_" + strings.Repeat("x", 36), "AK" + "IAIOSFODNN7EXAMPLE",
		"gh" + "p_" + mixed + " // gitleaks:allow", "token: 550e8400-e29b-41d4-a716-446655440000",
		"secret: ${SECRET_FROM_ENVIRONMENT}", "api_key = os.Getenv(\"SERVICE_API_KEY_2024\")", "password=<your-password-1>",
		"sha256:" + hex64, "ref token " + hex64, "key: " + hex64[:12], "integrity sha512-" + mixed + mixed + "==",
		"postgres://user:${PASSWORD_1}@db/x", "\x00gh" + "p_" + mixed, "g\x00h\x00p\x00_\x00" + mixed,
		"compat" + "_" + mixed, "map[path]\\path" + mixed, "cache-key" + "-" + hex64[:32], "time 12345678:AAaa",
		"The token is a secret: passwords are in the vault.", "[redacted github-pat]",
	} {
		if found := secrets.Scan([]byte(text)); len(found) > 0 {
			t.Errorf("%q: found %+v", text, found)
		}
	}
}

// TestPrivateKeys finds the whole of a key however its lines are written, and also without its
// end; what stands around it stays.
func TestPrivateKeys(t *testing.T) {
	const begin, end = "-----BEGIN RSA " + "PRIVATE KEY-----", "-----END RSA " + "PRIVATE KEY-----"
	lines := []string{begin}
	for i := range 12 {
		lines = append(lines, strings.Repeat(mixed, 3)[i:i+64])
	}
	whole := append(slices.Clone(lines), "QUJDREVGRw==", end)
	encrypted := slices.Insert(slices.Clone(whole), 1, "Proc-Type: 4,ENCRYPTED", "DEK-Info: AES-128-CBC,9F3C0123456789AB", "")
	for name, text := range map[string]string{
		"CRLF": strings.Join(whole, "\r\n"), "CR": strings.Join(whole, "\r"), "JSON": strings.Join(whole, `\n`),
		"encrypted": strings.Join(encrypted, "\n"), "numbered": strings.Join(whole, "\n    12→"), "entities": strings.Join(whole, "&#10;"),
		"removed": strings.Join(whole, "\n-"), "cut": strings.Join(lines, "\n"), "cut JSON": strings.Join(lines, `\r\n`),
		"cut and numbered": strings.Join(lines, "\n    12→"), "cut in a line": strings.Join(lines, "\n")[:700],
	} {
		text = "Before: " + text + "\nAfter it. " + begin + " is how one begins, and " + end + " ends it."
		left := string(secrets.Take([]byte(text), secrets.Scan([]byte(text))))
		for i := range 10 {
			if strings.Contains(left, lines[i+1][8:40]) {
				t.Errorf("%s: line %d of the key is left", name, i)
			}
		}
		if !strings.HasPrefix(left, "Before: [redacted private-key]") || !strings.Contains(left, "After it. "+begin+" is how") {
			t.Errorf("%s: of what stands around %q is left", name, left)
		}
	}
}

// TestBlocks finds secrets of a long stream wherever one part of it ends, in their lines.
func TestBlocks(t *testing.T) {
	secret := "gh" + "p_" + mixed
	for _, at := range []int{0, 500_000, 512<<10 - 32<<10 - 20, 512<<10 - 32<<10, 512<<10 - 10, 512 << 10, 1<<20 + 3} {
		filler := bytes.Repeat([]byte("x\n"), at/2)
		text := append(append(bytes.Clone(filler), secret...), bytes.Repeat([]byte(" y"), 600<<10)...)
		r := secrets.NewReader(bytes.NewReader(text), true)
		got, err := io.ReadAll(r)
		want := strings.Replace(string(text), secret, "[redacted github-pat]", 1)
		if err != nil || string(got) != want || r.Count != 1 || r.Found[0].Line != at/2+1 {
			t.Errorf("at %d: %d found: %+v, %v", at, r.Count, r.Found, err)
		}
	}
}

// TestReaderKeeps hands on a stream as it is: binary, without secrets, and one that breaks.
func TestReaderKeeps(t *testing.T) {
	for _, text := range []string{"", "plain", "\x00gh" + "p_" + mixed, strings.Repeat("a\r\n\xff", 500_000)} {
		got, err := io.ReadAll(secrets.NewReader(strings.NewReader(text), true))
		if diff := cmp.Diff(text, string(got)); diff != "" || err != nil {
			t.Errorf("%.20q: %v", text, err)
		}
	}
	for _, broken := range []error{io.ErrUnexpectedEOF, io.ErrClosedPipe} {
		from := io.MultiReader(strings.NewReader("text"), iotest.ErrReader(broken))
		if got, err := io.ReadAll(secrets.NewReader(from, false)); string(got) != "text" || err != broken {
			t.Errorf("a stream that breaks: %q, %v", got, err)
		}
	}
}

// TestWide looks at texts with characters of several bytes, in memory and in a stream, and not at what is no text.
func TestWide(t *testing.T) {
	secret := "gh" + "p_" + mixed
	write := func(secret, begin, end string) string {
		text := strings.Builder{}
		for _, c := range []byte("one\n\xe9 " + secret + " end\n") {
			text.WriteString(begin + string([]byte{c}) + end)
		}
		return text.String()
	}
	for _, test := range []struct {
		mark, begin, end string
		want             int
	}{
		{"\xff\xfe", "", "\x00", 1}, {"", "", "\x00", 1}, {"", "\x00", "", 1}, {"\x00\x00\xfe\xff", "\x00\x00\x00", "", 1},
		{"\xff\xfe\x00\x00", "", "\x00\x00\x00", 1}, {"\x00\x01\x02\x03", "", "", 0}, {"", "", "\x00\x00\x00\x00", 0},
	} {
		text, want := test.mark+write(secret, test.begin, test.end), test.mark+write("[redacted github-pat]", test.begin, test.end)
		if test.want == 0 {
			want = text
		}
		r, err := secrets.ReadThrough(func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil })
		if err != nil || r.Count != test.want || r.Count > 0 && r.Found[0].Line != 2 {
			t.Errorf("%.20q: %d found: %+v, %v; want %d in line 2", text, r.Count, r.Found, err, test.want)
		}
		if got := secrets.Take([]byte(text), secrets.Scan([]byte(text))); string(got) != want {
			t.Errorf("taken: %q, want %q", got, want)
		}
		if got, err := io.ReadAll(secrets.NewReader(strings.NewReader(text), true)); string(got) != want || err != nil {
			t.Errorf("taken out of a stream: %q, %v, want %q", got, err, want)
		}
	}
}

// FuzzTake takes secrets out of anything, and finds none in what is left.
func FuzzTake(f *testing.F) {
	for rule, example := range examples() {
		rule, before, secret := parts(rule, example)
		f.Add([]byte("a\n" + before + secret + end(rule)))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		last := 0
		found := secrets.Scan(text)
		for _, s := range found {
			if s.Start < last || s.End <= s.Start || s.End > len(text) || s.Line != 1+bytes.Count(text[:s.Start], []byte("\n")) {
				t.Errorf("%q: %+v", text, s)
			}
			last = s.End
		}
		left := secrets.Take(text, found)
		for _, s := range secrets.Scan(left) {
			t.Errorf("%q: %+v is found in %q", text, s, left)
		}
		got, err := io.ReadAll(secrets.NewReader(bytes.NewReader(text), true))
		if err != nil || !bytes.Equal(got, left) {
			t.Errorf("%q: of a stream %q is left, and of the text %q", text, got, left)
		}
	})
}
