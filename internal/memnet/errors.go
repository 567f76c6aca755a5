package memnet

import (
	"net"
	"os"
	"syscall"
)

// address is "host:port" with a host that need not exist.
type address string

func (address) Network() string  { return "tcp" }
func (a address) String() string { return string(a) }

// opError wraps err as package net does, so that errors.Is, net.Error and the text are
// those of real connections.
func opError(op string, local, remote net.Addr, err error) error {
	return &net.OpError{Op: op, Net: "tcp", Source: local, Addr: remote, Err: err}
}

// sysError is opError for the error of the system call named call.
func sysError(op, call string, local, remote net.Addr, errno syscall.Errno) error {
	return opError(op, local, remote, os.NewSyscallError(call, errno))
}
