package client_test

import "net"

// wired is a connection that tells when something has come on it.
type wired struct {
	net.Conn
	moved chan<- struct{}
}

func (c wired) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	select {
	case c.moved <- struct{}{}:
	default: // it is known
	}
	return n, err
}
