package query

import (
	"cmp"
	"strings"

	"filebus/store/record"
)

// A Channel is one of the ways in which an orchestrator and its agents
// communicate: what budgets count reads by.
type Channel string

// The channels: those of the file-based communication document first, in its
// order.
const (
	ChannelWaits     Channel = "waits"
	ChannelHandoffs  Channel = "handoffs"
	ChannelIssues    Channel = "issue queue"
	ChannelState     Channel = "session state"
	ChannelKnowledge Channel = "knowledge graph"
	ChannelMap       Channel = "context map"
	ChannelContext   Channel = "context"
	ChannelResults   Channel = "results"
	ChannelSearch    Channel = "search"
	ChannelOther     Channel = "other"
)

// Channels returns all channels in the order in which they are shown.
func Channels() []Channel {
	return []Channel{
		ChannelWaits, ChannelHandoffs, ChannelIssues, ChannelState, ChannelKnowledge, ChannelMap,
		ChannelContext, ChannelResults, ChannelSearch, ChannelOther,
	}
}

// channels are those of the commands by their first words, and of records by their
// kinds, which decide where a command reads any record.
var channels = map[string]Channel{
	"wait": ChannelWaits, "task": ChannelHandoffs, "issue": ChannelIssues, "run": ChannelState, "status": ChannelState,
	"knowledge": ChannelKnowledge, "component": ChannelMap, "context": ChannelContext, "search": ChannelSearch,

	kindOf + string(record.KindMarker):    ChannelWaits,
	kindOf + string(record.KindHandoff):   ChannelHandoffs,
	kindOf + string(record.KindIssue):     ChannelIssues,
	kindOf + string(record.KindState):     ChannelState,
	kindOf + string(record.KindKnowledge): ChannelKnowledge,
	kindOf + string(record.KindComponent): ChannelMap,
	kindOf + string(record.KindResult):    ChannelResults,
}

// kindOf begins the keys of kinds.
const kindOf = "kind "

// Channel returns the channel of a read.
func (r Read) Channel() Channel {
	key, _, _ := strings.Cut(r.Op, " ")
	if name, err := record.ParseName(r.What); err == nil && (key == "get" || key == "show") {
		key = kindOf + string(name.Kind)
	}
	return cmp.Or(channels[key], ChannelOther)
}
