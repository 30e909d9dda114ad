package dialogue

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxSlug is the longest slug that is made from a title, in bytes, without the
// number that tells it from others.
const MaxSlug = 80

// maxName is the longest name of an agent, in bytes: it becomes the name of a file.
const maxName = 80

// FoldName returns the name of an agent as its files have it: in lower case, one word
// of letters, digits, "-", "_" and ".". It returns ErrName for a text that is none,
// among them those whose file would be another one of the round.
func FoldName(text string) (string, error) {
	name := strings.ToLower(strings.TrimSpace(text))
	why := ""
	switch {
	case name == "":
		why = "it is empty"
	case !utf8.ValidString(name):
		why = "it is not UTF-8"
	case strings.ContainsAny(name, `/\`):
		why = "it becomes the name of a file, and holds a slash"
	case name == "." || name == "..":
		why = "it becomes the name of a file"
	case len(name) > maxName:
		why = fmt.Sprintf("it has more than %d bytes", maxName)
	case strings.ContainsFunc(name, isForeign):
		why = "it is one word, of letters, digits, - _ and ."
	case strings.ContainsRune("-.", rune(name[0])):
		why = "it begins with " + name[:1]
	case name[len(name)-1] == '.':
		why = "it ends with ."
	case strings.HasSuffix(name, ".prompt"):
		why = "its file would be a prompt"
	case strings.HasSuffix(name, ".md"):
		why = "a name has no .md, its file has"
	}
	if why != "" {
		return "", refuse(ErrName, "%q is no name of an agent: %s", text, why)
	}
	return name, nil
}

// isForeign reports whether a character has no place in a name.
func isForeign(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("-_.", r)
}

// Label returns what people call an agent: its name with a capital first letter.
func Label(name string) string {
	first, size := utf8.DecodeRuneInString(name)
	if size == 0 {
		return ""
	}
	return string(unicode.ToUpper(first)) + name[size:]
}

// SlugOf makes a slug from a title: its words in lower-case ASCII, joined by hyphens,
// at most MaxSlug bytes of whole words. Letters with accents lose them, letters of
// other alphabets are left out. It returns ErrSlug if nothing remains.
func SlugOf(title string) (string, error) {
	slug := ""
	for _, word := range strings.FieldsFunc(plainLetters(title), func(r rune) bool { return r == ' ' }) {
		longer := strings.TrimPrefix(slug+"-"+word, "-")
		if len(longer) > MaxSlug {
			if slug == "" {
				slug = longer[:MaxSlug] // one word
			}
			break
		}
		slug = longer
	}
	if slug == "" {
		return "", refuse(ErrSlug, "%q is no slug: %s", title, "it has no letters or digits that a slug can be made of")
	}
	return slug, nil
}

// plainLetters returns text with the letters and digits of ASCII alone and spaces
// for all that separates words. Apostrophes and accents separate nothing.
func plainLetters(text string) string {
	var out strings.Builder
	for _, r := range strings.ToLower(text) {
		switch plain, isKnown := plainLetter(r); {
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
			out.WriteRune(r)
		case isKnown:
			out.WriteString(plain)
		case r == '\'' || r == '’' || unicode.Is(unicode.Mn, r):
		default:
			out.WriteByte(' ')
		}
	}
	return out.String()
}

// plainLetter returns what stands for a lower-case letter of Latin script in ASCII.
func plainLetter(r rune) (string, bool) {
	for _, group := range [...]string{
		"a àáâãäåāăą", "ae æ", "c çćĉċč", "d ďðđ", "e èéêëēĕėęě", "g ĝğġģ", "h ĥħ", "i ìíîïĩīĭįı", "j ĵ", "k ķ",
		"l ĺļľŀł", "n ñńņňŉŋ", "o òóôõöōŏőø", "oe œ", "r ŕŗř", "s śŝşšș", "ss ß", "t ţťŧț", "th þ",
		"u ùúûüũūŭůűų", "w ŵ", "y ýÿŷ", "z źżž",
	} {
		if plain, letters, _ := strings.Cut(group, " "); strings.ContainsRune(letters, r) {
			return plain, true
		}
	}
	return "", false
}

// CheckSlug returns ErrSlug if a text is no slug of the form that SlugOf gives:
// lower-case letters, digits and hyphens between them, at most MaxSlug bytes.
func CheckSlug(slug string) error {
	why := ""
	switch {
	case slug == "":
		why = "it is empty"
	case strings.Contains(slug, ".."):
		why = `it holds ".."`
	case strings.ContainsAny(slug, `/\`):
		why = "it is the name of one folder, and holds a slash"
	case strings.ToLower(slug) != slug:
		why = "it has capital letters"
	case len(slug) > MaxSlug:
		why = fmt.Sprintf("it has more than %d bytes", MaxSlug)
	case strings.Trim(slug, "abcdefghijklmnopqrstuvwxyz0123456789-") != "":
		why = "it has only letters, digits and hyphens"
	case slug == "docs":
		why = "the folder of that name has the documents"
	case slug[0] == '-' || slug[len(slug)-1] == '-':
		why = "it begins or ends with a hyphen"
	}
	if why != "" {
		return refuse(ErrSlug, "%q is no slug: %s", slug, why)
	}
	return nil
}
