package layout

import "strings"

// laneLength is the length of a lane.
const laneLength = 5

// LaneOf returns the lane of a store with an id: what the ids that it allocates end in where
// several machines share what it has, such as a1b2c in pattern-005-a1b2c. It is the first
// five digits of the id that begin with a letter and have one of 0 to 9, so that a lane is
// never taken for a number or a word.
func LaneOf(origin string) string {
	for i := range len(origin) - laneLength + 1 {
		if lane := origin[i : i+laneLength]; isLane(lane) {
			return lane
		}
	}
	return "a0" + origin[:laneLength-2] // of one id in some thousand millions
}

func isLane(text string) bool {
	return len(text) == laneLength && text[0] >= 'a' && text[0] <= 'f' &&
		strings.Trim(text, "0123456789abcdef") == "" && strings.ContainsAny(text, "0123456789")
}

// WithLane returns the id that an allocated one is in a lane; "" is that of a store alone.
func WithLane(id, lane string) string {
	if lane == "" {
		return id
	}
	return id + "-" + lane
}

// CutLane cuts the lane off an id that ends in a number and a lane. Of others it is "".
func CutLane(id string) (numbered, lane string) {
	at := len(id) - laneLength - 1
	if at < 1 || id[at] != '-' || !isLane(id[at+1:]) || id[at-1] < '0' || id[at-1] > '9' {
		return id, ""
	}
	return id[:at], id[at+1:]
}
