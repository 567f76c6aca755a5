package client

import (
	"context"
	"errors"
	"net"
	"os"
	"syscall"

	"github.com/fwpsuite/fwp/load/measure"
)

// What a server did that no command asks for, or did not do.
var (
	errUnasked = errors.New("the server sent bytes that nobody asked for")
	errSilent  = errors.New("the server did not reply in time")
	errClosed  = errors.New("the server closed the connection")
	errAnswer  = errors.New("the server sent a reply that does not belong to the command")
)

// opening sorts the ways in which a connection cannot be opened.
func opening(err error) measure.ErrorKind {
	var timeout net.Error
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return measure.Refused
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		return measure.OutOfFiles
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return measure.OutOfPorts
	case errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, context.DeadlineExceeded),
		errors.As(err, &timeout) && timeout.Timeout():
		return measure.Timeout
	case errors.Is(err, syscall.ECONNRESET):
		return measure.Reset
	}
	return measure.Other
}

// ending sorts the ways in which a connection ends that nobody ended; nil is a close
// in good order.
func ending(err error) (measure.ErrorKind, error) {
	if err == nil {
		return measure.Closed, errClosed
	}
	return measure.Reset, err
}
