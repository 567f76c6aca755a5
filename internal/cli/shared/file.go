package shared

import (
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
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
	return f.Finish(write(f))
}

// WriteBytes returns what writes a text.
func WriteBytes(text []byte) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	}
}

// ReplaceResult is ReplaceFile for the FILE of a flag, whose name its errors have. That the file cannot be written once
// it is open is an InternalError; an error of write alone is returned as it is.
func ReplaceResult(flag, name string, write func(io.Writer) error) error {
	f, err := OpenFile(name)
	if err != nil {
		return fmt.Errorf("%s: %w", flag, err)
	}
	writeErr := write(f)
	hasFailed := f.err != nil
	err = f.Finish(writeErr)
	if err != nil && (writeErr == nil || hasFailed) {
		return &InternalError{fmt.Errorf("%s: %w", flag, err)}
	}
	return err
}

// NewFile writes a file as a whole that must not exist yet, or leaves no file. The error is
// [fs.ErrExist] if there is one. An empty file holds the name while it is written.
func NewFile(name string, write func(io.Writer) error) error {
	placeholder, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644) //nolint:gosec // results are no secret
	if err != nil {
		return err
	}
	_ = placeholder.Close() // nothing was written
	if err := ReplaceFile(name, write); err != nil {
		_ = os.Remove(name) // the first of two errors is returned
		return err
	}
	return nil
}

// File is a file that results go to. It is written beside the existing file and
// replaces that when it is complete. Where that is impossible (a device, a folder
// without write permission) the existing file itself is truncated at the first Write.
type File struct {
	file          *os.File
	name          string // as it was given; errors name it
	isReplacement bool   // file is another one, which replaces it
	isTruncated   bool
	err           error // of the first Write that failed; nothing is written after it
}

// OpenFile opens name for writing, and returns an error if it cannot be written. The
// caller ends the file with Finish or Discard.
func OpenFile(name string) (*File, error) {
	if end, err := filepath.EvalSymlinks(name); err == nil {
		name = end
	}
	existing, err := os.OpenFile(name, os.O_WRONLY, 0)
	mode := fs.FileMode(0o644)
	switch {
	case errors.Is(err, fs.ErrNotExist): // there is nil
	case err != nil:
		return nil, err
	default:
		info, err := existing.Stat()
		if err != nil || !info.Mode().IsRegular() {
			return &File{file: existing, name: name}, err
		}
		mode = info.Mode().Perm()
	}
	replacement, err := os.OpenFile(name+"."+rand.Text()[:6]+".partial", os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	switch {
	case err == nil:
		_ = existing.Close() // nothing was written
		return &File{file: replacement, name: name, isReplacement: true}, nil
	case existing != nil:
		return &File{file: existing, name: name}, nil
	}
	return nil, pathError(name, err)
}

// pathError returns an error of the operating system that names this file.
func pathError(name string, err error) error {
	if pathErr, ok := errors.AsType[*fs.PathError](err); ok {
		return &fs.PathError{Op: pathErr.Op, Path: name, Err: pathErr.Err}
	}
	return err
}

// Write implements io.Writer. After an error all further calls return that error.
func (f *File) Write(b []byte) (n int, err error) {
	if f.err != nil {
		return 0, f.err
	}
	if !f.isReplacement && !f.isTruncated {
		f.isTruncated = true
		if err := f.file.Truncate(0); err != nil && !errors.Is(err, syscall.EINVAL) { // a device has no length
			f.err = pathError(f.name, err)
			return 0, f.err
		}
	}
	n, err = f.file.Write(b)
	f.err = pathError(f.name, err)
	return n, f.err
}

// Finish closes the file and moves it to its place. With contentErr, the caller's error, or after a Write that failed,
// it leaves the existing file and returns the error.
func (f *File) Finish(contentErr error) error {
	err := cmp.Or(contentErr, f.err)
	if err == nil && f.isReplacement {
		err = pathError(f.name, f.file.Sync()) // some disks report only here that they are full
	}
	if closeErr := f.file.Close(); err == nil {
		err = pathError(f.name, closeErr)
	}
	if !f.isReplacement {
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

// errDiscarded ends a file that is not wanted any more.
var errDiscarded = errors.New("discarded")

// Discard closes the file and leaves the existing one as it was.
func (f *File) Discard() { _ = f.Finish(errDiscarded) }
