//go:build !linux

package target

import "errors"

var errNoMount = errors.New("only Linux has a file system in memory")

func mount(string, int64) error { return errNoMount }

func unmount(string) {}

// CanMount returns why this process cannot mount a file system in memory; nil if it can.
func CanMount() error { return errNoMount }
