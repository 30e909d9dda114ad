//go:build unix && !linux

package result

import (
	"os"
	"syscall"
)

// adopt does nothing: there is no way to keep sight of what leaves the command's group.
func adopt() {}

func startTime(*os.Process) int { return 0 }

// left returns 1 while the command's group has members. What has left it is not seen.
func (c *Command) left(leader *os.Process, _ syscall.Signal) int {
	if c.Foreground || syscall.Kill(-leader.Pid, 0) != nil {
		return 0
	}
	return 1
}
