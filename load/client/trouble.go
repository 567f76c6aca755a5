package client

import (
	"context"
	"errors"
	"net"
	"os"
	"syscall"

	"github.com/fwpsuite/fwp/internal/base/machine"
	"github.com/fwpsuite/fwp/load/measure"
	"github.com/fwpsuite/fwp/load/wire"
)

// Errors of a server that breaks no rule of the grammar.
var (
	errSilent = errors.New("the server did not reply in time")
	errClosed = errors.New("the server closed the connection")

	errEndless = errors.New("the server sent replies without an end, which exceeded the memory limit")
)

// unaskedBreach is the breach of bytes that came while nothing was asked.
func unaskedBreach(in []byte) *wire.BreachError {
	return &wire.BreachError{Breach: wire.UnaskedBytes, Description: "the server sent " + wire.Quote(in) +
		", without a command"}
}

// surplusBreach is the breach of bytes that follow on a whole reply.
func surplusBreach(verb string, in []byte) *wire.BreachError {
	detail := " the server sent " + wire.Quote(in)
	if verb == "" {
		return &wire.BreachError{Breach: wire.UnaskedBytes, Description: "after its greeting" + detail +
			", without a command"}
	}
	return &wire.BreachError{Verb: verb, Breach: wire.ExtraReply, Description: "after the reply to " + verb + detail}
}

// The numbers of these errors on Windows; other systems have no numbers that high.
const (
	wsaReset   = syscall.Errno(10054)
	wsaRefused = syscall.Errno(10061)
)

// shortages holds the kinds of errors of this machine's shortages.
var shortages = map[machine.Shortage]measure.ErrorKind{
	machine.Files: measure.OutOfFiles, machine.Ports: measure.OutOfPorts, machine.Memory: measure.OutOfMemory,
}

// openErrorKind returns the way in which a connection could not be opened.
func openErrorKind(err error) measure.ErrorKind {
	if kind, ok := shortages[machine.ShortageOf(err)]; ok {
		return kind
	}
	timeout, ok := errors.AsType[net.Error](err)
	switch {
	case errors.Is(err, syscall.ECONNREFUSED), errors.Is(err, wsaRefused):
		return measure.Refused
	case errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, context.DeadlineExceeded), ok && timeout.Timeout():
		return measure.Timeout
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, wsaReset),
		errors.Is(err, syscall.ENOTCONN): // reset before its beginning was noticed
		return measure.Reset
	}
	return measure.Other
}

// endErrorKind sorts the ways in which a server ends a connection; nil is a close in good
// order.
func endErrorKind(err error) (measure.ErrorKind, error) {
	if err == nil {
		return measure.Closed, errClosed
	}
	return measure.Reset, err
}
