//go:build !unix

package bench

import (
	"os"
	"syscall"

	"github.com/fwpsuite/fwp/load/disrupt"
)

// processGroup does nothing: here an interrupt from the keyboard reaches the server too.
func processGroup() *syscall.SysProcAttr { return nil }

// suspend is for Unix only.
func suspend(*os.Process) error {
	return &disrupt.SkippedError{Reason: "processes stand still on Unix only"}
}

func resume(*os.Process) error { return nil }
