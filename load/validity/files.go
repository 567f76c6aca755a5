package validity

import "fmt"

// spareFiles is how many descriptors a process needs beside those of its connections: output, files under /proc, the
// poller.
const spareFiles = 64

// RaiseFiles makes sure that the process may have that many connections open, and some files. It raises the
// soft limit as far as needed and allowed, and the hard one if the process has the right to.
func RaiseFiles(connections int) error {
	return raise(int64(connections)+spareFiles, fileLimits, setFileLimits)
}

func raise(need int64, get func() (soft, hard int64), set func(soft, hard int64) error) error {
	soft, hard := get()
	if soft == 0 || soft >= need { // 0: this operating system has no limits
		return nil
	}
	_ = set(min(need, hard), hard) // the limits tell whether it went well
	if hard < need {
		_ = set(need, need) // root may
	}
	if soft, hard = get(); soft < need {
		return fmt.Errorf("this process may open %d files, and the run needs %d file descriptors: use fewer connections, "+
			"or raise the hard limit of %d, which only root can (ulimit -Hn, LimitNOFILE of a service, --ulimit nofile of a "+
			"container)", soft, need, hard)
	}
	return nil
}
