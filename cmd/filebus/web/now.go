package web

import (
	"context"
	"net/http"
	"slices"
	"time"
)

// A nowPage is where the work stands.
type nowPage struct {
	Status struct {
		Run, Focus, Ended          string
		Loop, Loops                int
		Completed, Failed, Working int
		Late, Conflicts, Behind    int
		Tasks                      []struct {
			Agent, Task string
			Seconds     float64
			Late        bool
		}
		Dialogues struct {
			Open               int
			Last               string
			Round, Turns, Owed int
		}
		Sessions struct {
			InProgress int `json:"in_progress"`
			Last       string
		}
		Results []struct {
			Ref, Agent, Status, Title string
			Tokens                    int
		}
	}
	Tasks struct {
		Tasks []struct {
			Task, Status, Agent, From, Title string
			Seconds, Quiet                   float64
			Marker, Late                     bool
		}
		More int
	}
	Issues struct {
		Issues []issue
		More   int
	}
}

// An issue is a card of the board.
type issue struct {
	ID, Status, Priority, Type, Summary, Agent, Task string
	LeaseUntil                                       *time.Time `json:"lease_until"`
	Expired                                          bool
	BlockedBy                                        []string `json:"blocked_by"`
}

func loadNow(ctx context.Context, s *Site, _ *http.Request) (any, error) {
	v := &nowPage{}
	if err := s.Ask(ctx, &v.Status, "status"); err != nil {
		return nil, err
	}
	if err := s.Ask(ctx, &v.Tasks, "task", "list"); err != nil {
		return nil, err
	}
	return v, s.Ask(ctx, &v.Issues, "issue", "list")
}

// A column is the issues of one status.
type column struct {
	Status string
	Issues []issue
}

// Board returns the issues by status, in the order in which they come.
func (n *nowPage) Board() (board []column) {
	for _, issue := range n.Issues.Issues {
		i := slices.IndexFunc(board, func(c column) bool { return c.Status == issue.Status })
		if i < 0 {
			i = len(board)
			board = append(board, column{Status: issue.Status})
		}
		board[i].Issues = append(board[i].Issues, issue)
	}
	return board
}
