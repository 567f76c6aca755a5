//go:build unix

package bench

import "syscall"

// ofItsOwn puts a process into a group of its own: an interrupt from the keyboard is
// for us, and the server is needed until the queues are empty.
func ofItsOwn() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
