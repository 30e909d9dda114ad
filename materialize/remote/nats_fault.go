package remote

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// A natsFault is what JetStream answers instead of doing something.
type natsFault struct {
	Code        int    `json:"err_code"`
	Description string `json:"description"`
}

func (f *natsFault) Error() string { return fmt.Sprintf("%s (%d)", f.Description, f.Code) }

// The faults that mean something to us. Both of a lost race are met: the first of one server, the
// second of several.
const (
	natsNotStored = 10077 // see isStored; else the stream is full
	natsLostRace  = 10071
	natsLostRace2 = 10164
	natsNoStream  = 10059
	natsNoMessage = 10037
	natsIsMade    = 10058 // with other settings
)

// natsPasses are the faults of a cluster that looks for a leader.
var natsPasses = []int{10008, 10009, 10118}

// isStored tells a subject that has its one message from a stream that is full.
func isStored(err error) bool {
	return isFault(err, natsNotStored) && strings.Contains(err.Error(), "per subject")
}

func isFault(err error, codes ...int) bool {
	f := (*natsFault)(nil)
	return errors.As(err, &f) && slices.Contains(codes, f.Code)
}
