package query

import (
	"slices"
	"strings"

	"filebus/store/record"
)

// A Channel is one of the ways in which an orchestrator and its agents
// communicate: what budgets count reads by.
type Channel string

// ChannelWaits is the channel of what waits for others.
const ChannelWaits Channel = "waits"

// channels are all channels in the order in which they are shown: those of the
// file-based communication document first, in its order. Each is that of commands
// by their first words, and of any record that is read by the kind of it.
var channels = []struct {
	name Channel
	of   string
}{
	{ChannelWaits, "wait kind:marker"},
	{"handoffs", "task kind:handoff"},
	{"issue queue", "issue kind:issue"},
	{"session state", "run status kind:state"},
	{"knowledge graph", "knowledge kind:knowledge"},
	{"context map", "component kind:component"},
	{"context", "context"},
	{"results", "kind:result"},
	{"search", "search"},
	{"other", ""}, // all else
}

// Channels returns all channels in the order in which they are shown.
func Channels() []Channel {
	var all []Channel
	for _, c := range channels {
		all = append(all, c.name)
	}
	return all
}

// Channel returns the channel of a read.
func (r Read) Channel() Channel {
	word, _, _ := strings.Cut(r.Op, " ")
	if name, err := record.ParseName(r.What); err == nil && (word == "get" || word == "show") {
		word = "kind:" + string(name.Kind)
	}
	for _, c := range channels {
		if slices.Contains(strings.Fields(c.of), word) {
			return c.name
		}
	}
	return channels[len(channels)-1].name
}
