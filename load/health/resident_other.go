//go:build !linux

package health

import "errors"

// Resident returns how many bytes of memory a process of this machine has resident, which only Linux tells.
func Resident(int) (int64, error) {
	return 0, errors.New("the memory of another process can be read on Linux only")
}
