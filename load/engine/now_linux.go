package engine

import (
	"syscall"
	"unsafe"
)

// readNow and writeNow make one system call on a socket that never blocks, and do not
// tell the runtime: on a busy machine it would take the processor from the goroutine
// meanwhile, and give it to another thread, at several times the cost of the call.
func readNow(fd uintptr, b []byte) (int, error) { return rawCall(syscall.SYS_READ, fd, b) }

func writeNow(fd uintptr, b []byte) (int, error) { return rawCall(syscall.SYS_WRITE, fd, b) }

func rawCall(call, fd uintptr, b []byte) (int, error) {
	for {
		n, _, errno := syscall.RawSyscall(call, fd, uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)))
		switch errno {
		case 0:
			return int(n), nil
		case syscall.EINTR:
		case syscall.EAGAIN:
			return 0, syscall.EAGAIN // a constant in an interface: no memory is taken
		default:
			return 0, errno
		}
	}
}
