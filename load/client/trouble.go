package client

import (
	"context"
	"errors"
	"net"
	"os"
	"syscall"

	"github.com/fwpsuite/fwp/load/measure"
	"github.com/fwpsuite/fwp/load/protocol"
)

// Errors of a server that breaks no rule of the grammar.
var (
	errSilent = errors.New("the server did not reply in time")
	errClosed = errors.New("the server closed the connection")
)

// unasked is the breach of bytes that came while nothing was asked.
func unasked(in []byte) *protocol.BreachError {
	return &protocol.BreachError{Breach: protocol.Unasked, What: "the server sent " + protocol.Quote(in) +
		", and nothing was asked"}
}

// surplus is the breach of bytes that follow on a whole reply.
func surplus(verb string, in []byte) *protocol.BreachError {
	what := " the server sent " + protocol.Quote(in)
	if verb == "" {
		return &protocol.BreachError{Breach: protocol.Unasked, What: "after its greeting" + what + ", and nothing was asked"}
	}
	return &protocol.BreachError{Verb: verb, Breach: protocol.ExtraReply, What: "after the reply to " + verb + what}
}

// What Windows calls a shortage; other systems have no numbers that high.
const (
	wsaManyFiles   = syscall.Errno(10024)
	wsaInUse       = syscall.Errno(10048) // from connect, when no local port is left
	wsaUnavailable = syscall.Errno(10049)
	wsaReset       = syscall.Errno(10054)
	wsaNoBuffers   = syscall.Errno(10055)
	wsaRefused     = syscall.Errno(10061)
)

// opening sorts the ways in which a connection cannot be opened.
func opening(err error) measure.ErrorKind {
	is := func(numbers ...syscall.Errno) bool {
		for _, number := range numbers {
			if errors.Is(err, number) {
				return true
			}
		}
		return false
	}
	late, ok := errors.AsType[net.Error](err)
	switch {
	case is(syscall.ECONNREFUSED, wsaRefused):
		return measure.Refused
	case is(syscall.EMFILE, syscall.ENFILE, wsaManyFiles):
		return measure.OutOfFiles
	case is(syscall.EADDRNOTAVAIL, wsaInUse, wsaUnavailable):
		return measure.OutOfPorts
	case is(syscall.ENOBUFS, syscall.ENOMEM, wsaNoBuffers):
		return measure.OutOfMemory
	case errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, context.DeadlineExceeded), ok && late.Timeout():
		return measure.Timeout
	case is(syscall.ECONNRESET, wsaReset):
		return measure.Reset
	}
	return measure.Other
}

// ending sorts the ways in which a server ends a connection; nil is a close in good
// order.
func ending(err error) (measure.ErrorKind, error) {
	if err == nil {
		return measure.Closed, errClosed
	}
	return measure.Reset, err
}
