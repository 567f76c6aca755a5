package target

import (
	"context"
	"os/exec"
	"syscall"
)

// shell hands the command line to cmd as it was written: quoting it the way
// programs in C read it would change its meaning.
func shell(ctx context.Context, command string) *exec.Cmd {
	c := exec.CommandContext(ctx, "cmd")
	c.SysProcAttr = &syscall.SysProcAttr{CmdLine: `cmd /s /c "` + command + `"`}
	return c
}
