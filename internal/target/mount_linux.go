package target

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// mount mounts a file system in memory of so many bytes.
func mount(dir string, size int64) error {
	options := fmt.Sprintf("size=%d,mode=0700", size)
	if err := unix.Mount("fwp", dir, "tmpfs", unix.MS_NODEV|unix.MS_NOSUID, options); err != nil {
		return fmt.Errorf("mount a tmpfs: %w", err)
	}
	return nil
}

// unmount ends a mount, if there is one.
func unmount(dir string) { _ = unix.Unmount(dir, unix.MNT_DETACH) }

// CanMount returns why this process cannot mount a file system in memory; nil if it can.
func CanMount() error {
	dir, err := os.MkdirTemp("", folderPrefix+"*")
	if err != nil {
		return err
	}
	defer removeDir(dir)
	return mount(dir, 1<<20)
}
