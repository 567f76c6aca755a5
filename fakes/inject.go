package fakes

import (
	"bytes"

	"github.com/fwpsuite/fwp/fwp"
)

// Push stores a work unit as a producer's PUSH does, without a connection. Of its fields only the required ones are
// checked, so that a test can deliver what the server itself would refuse. The error is a *[Refusal].
func (s *Server) Push(unit []byte) error {
	o, r := parseObject(bytes.Clone(unit))
	if r != nil {
		return r
	}
	for _, name := range []string{"jid", "jobtype"} {
		if r := wantText(o, name); r != nil {
			return r
		}
	}
	e := &Event{Conn: &Conn{server: s}, Command: fwp.Command{Verb: fwp.PUSH, Args: unit}, Object: o}
	return (&conn{s: s}).push(e)
}
