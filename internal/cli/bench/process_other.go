//go:build !unix

package bench

import (
	"os"
	"syscall"

	"github.com/fwpsuite/fwp/load/disrupt"
)

// ofItsOwn does nothing: here an interrupt from the keyboard reaches the server too.
func ofItsOwn() *syscall.SysProcAttr { return nil }

// standStill is for Unix only.
func standStill(*os.Process) error {
	return &disrupt.SkippedError{Why: "processes stand still on Unix only"}
}

func goOn(*os.Process) error { return nil }
