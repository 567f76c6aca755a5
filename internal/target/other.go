//go:build !linux

package target

import (
	"errors"
	"net"
)

// The processes that listen are not known here.

func listeners(*net.TCPAddr) []string { return nil }

func holders([]string, int) []holder { return nil }

func processState(int) (state, started string) { return "", "" }

func (holder) files() []ServingFile { return nil }

var errNoMount = errors.New("this needs a file system in memory, which only Linux has")

func mount(string, int64) error { return errNoMount }

func unmount(string) {}

// CanMount returns why this process cannot mount a file system in memory; nil if it can.
func CanMount() error { return errNoMount }
