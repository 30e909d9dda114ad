package markdown

import "bytes"

// htmlStart reports whether text opens an HTML block, and what ends it: the
// text returned, in any case of letters, or a blank line when that is empty. The
// seven conditions are those of the CommonMark specification.
func htmlStart(text []byte, inParagraph bool) (end string, ok bool) {
	if len(text) < 2 {
		return "", false
	}
	switch {
	case bytes.HasPrefix(text, []byte("<!--")):
		return "-->", true
	case text[1] == '?':
		return "?>", true
	case bytes.HasPrefix(text, []byte("<![CDATA[")):
		return "]]>", true
	case text[1] == '!':
		return ">", len(text) > 2 && isASCIILetter(text[2])
	}
	closing := text[1] == '/'
	name, rest := tagName(bytes.TrimPrefix(text[1:], []byte("/")))
	if name == "" {
		return "", false
	}
	bare := len(rest) == 0 || rest[0] == ' ' || rest[0] == '\t' || rest[0] == '>'
	switch {
	case isVerbatimTag(name):
		return "</" + name + ">", bare && !closing
	case isBlockTag(name):
		return "", bare || bytes.HasPrefix(rest, []byte("/>"))
	}
	return "", !inParagraph && isWholeTag(rest, closing)
}

// tagName cuts the name of a tag off text, in lower case. It is empty when
// there is none, or one too long to be known.
func tagName(text []byte) (name string, rest []byte) {
	n := 0
	for n < len(text) && (isASCIILetter(text[n]) || n > 0 && (text[n] >= '0' && text[n] <= '9' || text[n] == '-')) {
		n++
	}
	if n > 100 {
		return "", text
	}
	return string(bytes.ToLower(text[:n])), text[n:]
}

// isASCIILetter reports whether c may begin the name of a tag.
func isASCIILetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// isWholeTag reports whether rest, what follows a tag's name, completes the tag
// and nothing else stands on the line. Attributes are not checked one by one.
func isWholeTag(rest []byte, closing bool) bool {
	rest = bytes.TrimRight(rest, " \t")
	inside, found := bytes.CutSuffix(rest, []byte(">"))
	if !found || len(inside) > 0 && inside[0] != ' ' && inside[0] != '\t' && string(inside) != "/" {
		return false
	}
	if closing {
		return isBlankLine(inside)
	}
	// A ">" or "<" inside quotes belongs to an attribute.
	var quote byte
	for _, c := range inside {
		switch {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == '<' || c == '>' || c == '`':
			return false
		}
	}
	return quote == 0
}

// isVerbatimTag reports whether an element's content is taken as it stands up
// to its end tag.
func isVerbatimTag(name string) bool {
	switch name {
	case "script", "pre", "style", "textarea":
		return true
	}
	return false
}

// isBlockTag reports whether a tag opens an HTML block that lasts to the next
// blank line, even in the middle of a paragraph.
func isBlockTag(name string) bool {
	switch name {
	case "address", "article", "aside", "base", "basefont", "blockquote", "body", "caption",
		"center", "col", "colgroup", "dd", "details", "dialog", "dir", "div", "dl", "dt",
		"fieldset", "figcaption", "figure", "footer", "form", "frame", "frameset", "h1", "h2",
		"h3", "h4", "h5", "h6", "head", "header", "hr", "html", "iframe", "legend", "li", "link",
		"main", "menu", "menuitem", "meta", "nav", "noframes", "ol", "optgroup", "option", "p",
		"param", "search", "section", "summary", "table", "tbody", "td", "tfoot", "th", "thead",
		"title", "tr", "track", "ul":
		return true
	}
	return false
}

// containsFold reports whether text holds want, which is in lower case, in any
// case of ASCII letters.
func containsFold(text []byte, want string) bool {
	first := want[0] // never a letter
	for {
		i := bytes.IndexByte(text, first)
		if i < 0 || len(text)-i < len(want) {
			return false
		}
		if text = text[i:]; bytes.EqualFold(text[:len(want)], []byte(want)) {
			return true
		}
		text = text[1:]
	}
}
