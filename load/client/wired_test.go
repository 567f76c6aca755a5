package client_test

import "net"

// wired is a connection that tells when something has come on it.
type wired struct {
	socket
	moved chan<- struct{}
}

func (c wired) Read(b []byte) (int, error) {
	n, err := c.socket.Read(b)
	select {
	case c.moved <- struct{}{}:
	default: // it is known
	}
	return n, err
}

// socket is what a connection of package net can do beside.
type socket interface {
	net.Conn
	CloseWrite() error
	SetLinger(seconds int) error
}
