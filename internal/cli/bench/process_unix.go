//go:build unix

package bench

import (
	"os"
	"syscall"
)

// processGroup puts a process into a group of its own, so that an interrupt from the keyboard does not reach the
// server, which is needed until the queues are empty. If this process ends while the other stands still, the system
// continues that one and ends it.
func processGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// suspend stops a process until resume.
func suspend(p *os.Process) error { return p.Signal(syscall.SIGSTOP) }

func resume(p *os.Process) error { return p.Signal(syscall.SIGCONT) }
