package target

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// filler is the name of the file that fills a disk.
const filler = ".fwp-full"

// Fill fills the file system of the server's folder, which [Starter.Disk] has made, until Free.
func (i *StartedServer) Fill() error {
	f, err := os.OpenFile(filepath.Join(i.place.Dir, filler), os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return fmt.Errorf("fill the disk: %w", err)
	}
	defer f.Close() //nolint:errcheck // it holds zeros
	for block := make([]byte, 1<<20); len(block) > 0; {
		if _, err := f.Write(block); errors.Is(err, syscall.ENOSPC) {
			block = block[:len(block)/2]
		} else if err != nil {
			return fmt.Errorf("fill the disk: %w", err)
		}
	}
	return nil
}

// Free ends a Fill.
func (i *StartedServer) Free() error { return os.Remove(filepath.Join(i.place.Dir, filler)) }

// removeDir removes the folder of a server, and what is mounted there.
func removeDir(dir string) {
	unmount(dir)
	_ = os.RemoveAll(dir)
}
