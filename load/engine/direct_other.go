//go:build !unix

package engine

import (
	"errors"
	"net"
)

// directSocket is not there: on this system package net does all reading and writing.
type directSocket struct{}

func newDirectSocket(net.Conn) *directSocket { return nil }

func (*directSocket) attend(func() bool) error { return errors.ErrUnsupported }

func (*directSocket) read([]byte) (int, error) { return 0, errors.ErrUnsupported }

func (*directSocket) write([]byte) (int, error) { return 0, errors.ErrUnsupported }
