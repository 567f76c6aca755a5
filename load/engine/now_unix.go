//go:build unix && !linux

package engine

import (
	"errors"
	"syscall"
)

// readNow and writeNow make one system call on a socket that never blocks.
func readNow(fd uintptr, b []byte) (int, error) { return rawCall(syscall.Read, fd, b) }

func writeNow(fd uintptr, b []byte) (int, error) { return rawCall(syscall.Write, fd, b) }

func rawCall(call func(fd int, b []byte) (int, error), fd uintptr, b []byte) (int, error) {
	for {
		n, err := call(int(fd), b)
		if !errors.Is(err, syscall.EINTR) {
			return max(0, n), err
		}
	}
}
