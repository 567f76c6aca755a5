package health

import "fmt"

// spareFiles is how many descriptors a process needs beside those of its connections: output, files under /proc, the
// poller.
const spareFiles = 64

// FilesError reports that the limit of open files is too low for a run.
type FilesError struct {
	// Need is how many descriptors the run needs, Soft and Hard are the limits. Soft is already as high as it may be.
	Need, Soft, Hard int64
	// Err is the error of raising the limit; nil if it was not tried.
	Err error
}

// Error returns the limits and what to do.
func (e *FilesError) Error() string {
	return fmt.Sprintf("this process may open %d files, and the run needs %d file descriptors: use fewer connections, or "+
		"raise the hard limit of %d, which only root can (ulimit -Hn, LimitNOFILE of a service, --ulimit nofile of a "+
		"container)", e.Soft, e.Need, e.Hard)
}

// Unwrap returns Err.
func (e *FilesError) Unwrap() error { return e.Err }

// RaiseFiles makes sure that the process may have that many connections open, and some files. It raises the
// soft limit as far as needed and allowed, and the hard one if the process has the right to. It returns both limits as
// they are then; 0 means that this operating system has none. If they are too low the error is a *FilesError.
func RaiseFiles(connections int) (soft, hard int64, err error) {
	return raise(int64(connections)+spareFiles, fileLimits, setFileLimits)
}

func raise(need int64, get func() (soft, hard int64), set func(soft, hard int64) error) (soft, hard int64, err error) {
	soft, hard = get()
	if soft == 0 || soft >= need {
		return soft, hard, nil
	}
	cause := set(min(need, hard), hard)
	if hard < need {
		cause = set(need, need) // root may
	}
	soft, hard = get()
	if soft < need {
		return soft, hard, &FilesError{Need: need, Soft: soft, Hard: hard, Err: cause}
	}
	return soft, hard, nil
}
