package target

import (
	"context"
	"io"
	"os/exec"
	"syscall"
)

const (
	canStart  = false
	shellName = "cmd"
)

func detach(*exec.Cmd) {}

// Supervise is for Unix only.
func Supervise(string, io.Reader, io.Writer) int { return 127 }

// shell hands the command line to cmd as it was written: quoting it the way
// programs in C read it would change its meaning.
func shell(ctx context.Context, command string) *exec.Cmd {
	c := exec.CommandContext(ctx, shellName)
	c.SysProcAttr = &syscall.SysProcAttr{CmdLine: `cmd /s /c "` + command + `"`}
	return c
}

// namedPipe cannot be made here, where no programs are started either.
type namedPipe struct{ path string }

func newNamedPipe() (*namedPipe, error) { return nil, ErrNoPrograms }

func (*namedPipe) discard() {}

func (*namedPipe) copy(io.Reader, <-chan struct{}) {}

func descendants(int) []int { return nil }
