//go:build unix

package target

import (
	"io"
	"os"
	"path/filepath"
	"syscall"
)

// namedPipe is the input of a program: a pipe with a name, which the shell opens.
type namedPipe struct{ folder, path string }

func newNamedPipe() (*namedPipe, error) {
	folder, err := os.MkdirTemp("", "fwp-input-")
	if err != nil {
		return nil, err
	}
	p := &namedPipe{folder, filepath.Join(folder, "input")}
	if err := syscall.Mkfifo(p.path, 0o600); err != nil {
		p.discard()
		return nil, err
	}
	return p, nil
}

// discard removes the pipe.
func (p *namedPipe) discard() {
	if p != nil {
		_ = os.RemoveAll(p.folder)
	}
}

// copy writes what it reads into the pipe, and removes that when the program is over.
func (p *namedPipe) copy(from io.Reader, over <-chan struct{}) {
	if p == nil {
		return
	}
	opened := make(chan struct{})
	go func() {
		<-over
		// A program that has not opened its end keeps the writer waiting: another reader ends that.
		if end, err := os.OpenFile(p.path, os.O_RDONLY|syscall.O_NONBLOCK, 0); err == nil {
			<-opened
			_ = end.Close()
		}
		p.discard()
	}()
	to, err := os.OpenFile(p.path, os.O_WRONLY, 0) // blocks until there is a reader
	close(opened)
	if err != nil {
		return
	}
	defer to.Close() //nolint:errcheck // the program has ended, or gets all that was written
	_, _ = io.Copy(to, from)
}
