package input

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"
)

// Read returns the contents of a file. It returns an error for a folder, and if there are more than most bytes. It
// blocks as long as the file does, which may be a pipe that has a writer; see [Open].
func Read(name string, limit int64) ([]byte, error) {
	f, err := Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // it was only read
	return All(f, name, limit)
}

// All returns what can be read from r until its end. It returns an error if that is more than most bytes; name is what
// the error calls them.
func All(r io.Reader, name string, limit int64) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err == nil && int64(len(text)) > limit {
		err = fmt.Errorf("%s has more than %s, the limit", name, size(limit))
	}
	if err != nil {
		return nil, err
	}
	return text, nil
}

// forWriter is how long a pipe may have no writer. A program that is started at the same time opens it sooner.
const forWriter = 10 * time.Second

// Open opens a file for a reader that keeps to bounds of its own. It returns an error for a folder, and for a named
// pipe that no program opens for writing within ten seconds.
func Open(name string) (*os.File, error) { return open(name, forWriter) }

func open(name string, wait time.Duration) (*os.File, error) {
	f, err := openWithin(name, wait)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && info.IsDir() {
		err = &fs.PathError{Op: "read", Path: name, Err: errors.New("it is a folder, not a file")}
	}
	if err != nil {
		_ = f.Close() // nothing was read
		return nil, err
	}
	return f, nil
}

// openWithin opens a file. The open of a pipe without a writer blocks in the operating system: it is left to itself,
// and to the end of the process.
func openWithin(name string, wait time.Duration) (*os.File, error) {
	if info, err := os.Stat(name); err != nil || info.Mode()&fs.ModeNamedPipe == 0 {
		return os.Open(name)
	}
	type opened struct {
		file *os.File
		err  error
	}
	done := make(chan opened, 1)
	go func() {
		f, err := os.Open(name)
		done <- opened{f, err}
	}()
	select {
	case o := <-done:
		return o.file, o.err
	case <-time.After(wait):
		return nil, &fs.PathError{Op: "open", Path: name, Err: fmt.Errorf(
			"it is a pipe that no program opened for writing within %v: start the writing program first", wait)}
	}
}

// size returns a number of bytes in words.
func size(n int64) string {
	switch {
	case n >= 1<<20:
		return fmt.Sprintf("%d MiB", n>>20)
	case n >= 1<<10:
		return fmt.Sprintf("%d KiB", n>>10)
	}
	return fmt.Sprintf("%d bytes", n)
}
