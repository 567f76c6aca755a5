package target

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// Stop is how a started server is stopped.
type Stop string

// The ways to stop a server.
const (
	InOrder    Stop = "in order"    // it is asked to end, with all that it started
	AtOnce     Stop = "at once"     // it is killed, with all that it started
	ServerOnly Stop = "server only" // it is killed; what it started may end by itself within ten seconds
)

// Stop stops the server. It blocks until all have ended. Until Again, the server is one that has ended.
func (i *Started) Stop(how Stop) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if how == ServerOnly {
		i.now.order(killServerOrder)
		<-i.now.over
	}
	i.now.end(how == AtOnce)
}

// Again starts the server again, at the same place, and blocks until it is ready.
func (i *Started) Again(ctx context.Context) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.begin(ctx)
}

// Replace has Again start another server at the same place: by the command, the environment and the Ready of s.
func (i *Started) Replace(s *Starter) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.starter = s
	i.Server.Address.Backend = s.backend(i.place)
}

// Pause makes the server, and what else is in its process group, stand still until Continue. It does not wait for that.
func (i *Started) Pause() { i.toGroup("STOP") }

// Continue ends a Pause.
func (i *Started) Continue() { i.toGroup("CONT") }

func (i *Started) toGroup(signal string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.now.order(groupOrder + signal + "\n")
}

// filler is the name of the file that fills a disk.
const filler = ".fwp-full"

// Fill fills the file system of the server's folder, which [Starter.Disk] has made, until Free.
func (i *Started) Fill() error {
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
func (i *Started) Free() error { return os.Remove(filepath.Join(i.place.Dir, filler)) }

// removeDir removes the folder of a server, and what is mounted there.
func removeDir(dir string) {
	unmount(dir)
	_ = os.RemoveAll(dir)
}
