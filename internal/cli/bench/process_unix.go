//go:build unix

package bench

import "syscall"

// ofItsOwn puts a process into a group of its own, so that an interrupt from the keyboard does not reach the server,
// which is needed until the queues are empty.
func ofItsOwn() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
