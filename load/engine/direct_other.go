//go:build !unix

package engine

import (
	"errors"
	"net"
)

// direct is not there: on this system package net does all reading and writing.
type direct struct{}

func newDirect(net.Conn) *direct { return nil }

func (*direct) attend(func() bool) error { return errors.ErrUnsupported }

func (*direct) read([]byte) (int, error) { return 0, errors.ErrUnsupported }

func (*direct) write([]byte) (int, error) { return 0, errors.ErrUnsupported }
