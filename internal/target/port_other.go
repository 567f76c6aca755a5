//go:build !unix

package target

import (
	"net"
	"syscall"
)

// HoldPort does nothing here.
func HoldPort(net.Addr) (release func()) { return func() {} }

// SetBacklog does nothing here.
func SetBacklog(net.Listener, int) {}

// SetReadBuffer does nothing here.
func SetReadBuffer(net.Listener, int) {}

// smallSegments does nothing here.
func smallSegments(string, string, syscall.RawConn) error { return nil }
