package layout

import (
	"strings"

	"filebus/materialize/markdown"

	"filebus/store/record"
)

// Notes is the layout of every file that no template knows.
type Notes struct{}

// Parse makes the whole file one note. Front matter that names an agent, a
// session, a conversation or thread, a task, a status or tags gives these
// facts; the document's own id becomes the attribute "id". It never reports an
// error: a note may hold anything.
func (Notes) Parse(path string, text []byte) (File, []*SyntaxError) {
	return single(path, record.KindNote, text, frontFacts(text)), nil
}

// frontFacts returns what the front matter of a text says about it.
func frontFacts(text []byte) Facts {
	var f Facts
	fields, _ := markdown.FrontMatter(text)
	value := func(keys ...string) string {
		for _, key := range keys {
			for _, v := range fields[key] {
				if v = word(v); v != "" {
					return v
				}
			}
		}
		return ""
	}
	f.Agent = value("agent", "agent_id", "author")
	f.Session = value("session", "session_id")
	f.Conversation = value("thread", "thread_id", "conversation", "conversation_id")
	f.Task = TaskID(value("task", "task_id"))
	f.Status = strings.ToLower(value("status"))
	f.Tags = factList(fields["tags"], word)
	f.setFact("id", value("id"))
	return f
}
