package layout

import (
	"fmt"
	"time"
)

// DurationText returns a duration as states have it: 45s, 12m 30s, 48m, 6h 21m, 3d 4h.
func DurationText(d time.Duration) string {
	seconds := int(d / time.Second)
	hours, minutes := seconds/3600, seconds/60%60
	switch {
	case seconds < 60:
		return fmt.Sprintf("%ds", seconds)
	case hours == 0 && seconds%60 == 0:
		return fmt.Sprintf("%dm", minutes)
	case hours == 0:
		return fmt.Sprintf("%dm %ds", minutes, seconds%60)
	case hours >= 48:
		return fmt.Sprintf("%dd %dh", hours/24, hours%24)
	case minutes == 0:
		return fmt.Sprintf("%dh", hours)
	}
	return fmt.Sprintf("%dh %dm", hours, minutes)
}
