//go:build !unix

package bench

import "syscall"

// ofItsOwn does nothing: here an interrupt from the keyboard reaches the server too.
func ofItsOwn() *syscall.SysProcAttr { return nil }
