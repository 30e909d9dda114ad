package query

import (
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

// Channel returns the channel of a read. The first word of Op, the command,
// decides; of the commands that read any record, the kind of what was read.
func (r Read) Channel() Channel {
	command, _, _ := strings.Cut(r.Op, " ")
	switch command {
	case "wait":
		return ChannelWaits
	case "task":
		return ChannelHandoffs
	case "issue":
		return ChannelIssues
	case "run", "status":
		return ChannelState
	case "knowledge":
		return ChannelKnowledge
	case "component":
		return ChannelMap
	case "context":
		return ChannelContext
	case "search":
		return ChannelSearch
	case "get", "show":
		if name, err := record.ParseName(r.What); err == nil {
			return channelOf(name.Kind)
		}
	}
	return ChannelOther
}

// channelOf returns the channel that records of a kind belong to.
func channelOf(kind record.Kind) Channel {
	switch kind {
	case record.KindMarker:
		return ChannelWaits
	case record.KindHandoff:
		return ChannelHandoffs
	case record.KindIssue:
		return ChannelIssues
	case record.KindState:
		return ChannelState
	case record.KindKnowledge:
		return ChannelKnowledge
	case record.KindComponent:
		return ChannelMap
	case record.KindResult:
		return ChannelResults
	}
	return ChannelOther
}
