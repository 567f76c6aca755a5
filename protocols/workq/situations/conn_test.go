package situations_test

import (
	"io"
	"net"
)

// conn is a connection of a program that does not care for errors.
type conn struct{ net.Conn }

func (c *conn) reads()             { _, _ = io.Copy(io.Discard, c.Conn) }
func (c *conn) writes(text string) { _, _ = io.WriteString(c.Conn, text) }
