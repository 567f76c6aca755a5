package program

import (
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// ReplaceFile writes a file as a whole, or leaves the existing one as it is.
func ReplaceFile(name string, write func(io.Writer) error) error {
	f, err := OpenFile(name)
	if err != nil {
		return err
	}
	if err := write(f); err != nil {
		f.Discard()
		return err
	}
	return f.Commit()
}

// File is a file that results go to. It is written beside the existing file and
// replaces that when it is complete. Where that is impossible (a device, a folder
// without write permission) the existing file itself is truncated at the first Write.
type File struct {
	file    *os.File
	name    string // the file that it replaces; empty: it is that file itself
	emptied bool
}

// OpenFile opens name for writing, and returns an error if it cannot be written. The
// caller ends the file with Commit or Discard.
func OpenFile(name string) (*File, error) {
	if end, err := filepath.EvalSymlinks(name); err == nil {
		name = end
	}
	there, err := os.OpenFile(name, os.O_WRONLY, 0)
	mode := fs.FileMode(0o644)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		there = nil
	case err != nil:
		return nil, err
	default:
		info, err := there.Stat()
		if err != nil || !info.Mode().IsRegular() {
			return &File{file: there}, err
		}
		mode = info.Mode().Perm()
	}
	beside, err := os.OpenFile(name+"."+rand.Text()[:6]+".partial", os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err == nil {
		if there != nil {
			_ = there.Close() // nothing was written
		}
		return &File{file: beside, name: name}, nil
	}
	if there != nil {
		return &File{file: there}, nil
	}
	if wrong, ok := errors.AsType[*fs.PathError](err); ok {
		wrong.Path = name
	}
	return nil, err
}

// Write implements io.Writer.
func (f *File) Write(b []byte) (int, error) {
	if f.name == "" && !f.emptied {
		f.emptied = true
		if err := f.file.Truncate(0); err != nil && !errors.Is(err, syscall.EINVAL) { // a device has no length
			return 0, err
		}
	}
	return f.file.Write(b)
}

// Commit closes the file and moves it to its place.
func (f *File) Commit() error {
	err := f.file.Close()
	if f.name == "" {
		return err
	}
	if err == nil {
		err = os.Rename(f.file.Name(), f.name)
	}
	if err != nil {
		_ = os.Remove(f.file.Name()) // the first of two errors is returned
	}
	return err
}

// Discard closes the file and leaves the existing one as it was.
func (f *File) Discard() {
	_ = f.file.Close()
	if f.name != "" {
		_ = os.Remove(f.file.Name())
	}
}
