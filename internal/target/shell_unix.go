//go:build unix

package target

import (
	"context"
	"os/exec"
	"syscall"
)

// shell runs a command in a process group of its own, so that everything it
// started ends with it when its time is up, and nothing of it when the user
// interrupts the suite.
func shell(ctx context.Context, command string) *exec.Cmd {
	c := exec.CommandContext(ctx, "sh", "-c", command)
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
	return c
}
