//go:build !unix

package bench

import "syscall"

// ofItsOwn is about interrupts from the keyboard, which reach the whole group here.
func ofItsOwn() *syscall.SysProcAttr { return nil }
