//go:build unix && !linux

package target

import (
	"syscall"
	"time"
)

func adoptOrphans() {}

func killOrphans() {}

func stopOrphans(<-chan time.Time) bool { return true }

func hasOrphans() bool { return false }

func signalOrphans(syscall.Signal) {}

func descendants(int) []int { return nil }
