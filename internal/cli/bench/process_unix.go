//go:build unix

package bench

import (
	"os"
	"syscall"
)

// ofItsOwn puts a process into a group of its own, so that an interrupt from the keyboard does not reach the server,
// which is needed until the queues are empty. If this process ends while the other stands still, the system continues
// that one and ends it.
func ofItsOwn() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// standStill stops a process until goOn.
func standStill(p *os.Process) error { return p.Signal(syscall.SIGSTOP) }

func goOn(p *os.Process) error { return p.Signal(syscall.SIGCONT) }
