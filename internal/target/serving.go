package target

import (
	"context"
	"slices"
)

// Serving is what is known of the process that serves at the address of a server. It tells the server of one moment
// from that of a later one. The zero value knows nothing.
type Serving struct {
	instance instance
	mark     Mark
}

// ServingFile is a file of a process that serves: its program, or one that its command line names.
type ServingFile struct {
	Name string // without the folder
	Path string // by which it can be read as long as the process lives
}

// Serving looks at what serves now. It blocks for a few seconds at most.
func (s *Server) Serving(ctx context.Context) (now Serving) {
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	if nc, err := s.Dial(ctx); err == nil {
		now.instance = s.instanceOf(nc)
		_ = nc.Close()
	}
	if s.Talk.Mark != nil {
		now.mark, _ = s.Talk.Mark(ctx, s) // what it does not report is not known
	}
	return now
}

// IsOther reports whether it is seen that a later server is another process.
func (s Serving) IsOther(later Serving) bool {
	return s.instance.isOther(later.instance) || s.mark.isOther(later.mark)
}

// forwarders are programs that listen for a server which is another process, in a container or on another machine.
var forwarders = []string{
	"conmon", "docker", "docker-proxy", "kubectl", "ncat", "pasta", "pasta.avx2", "podman", "rootlessport",
	"slirp4netns", "socat", "ssh",
}

// Files returns the program that serves, and the files that its command line names; nothing if it is not known, or
// only forwards to the server.
func (s Serving) Files() []ServingFile {
	at := slices.IndexFunc(s.instance, func(h holder) bool { return h.pid != 0 })
	if at < 0 {
		return nil
	}
	files := s.instance[at].files()
	if len(files) == 0 || slices.Contains(forwarders, files[0].Name) {
		return nil
	}
	return files
}
