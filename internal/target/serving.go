package target

import (
	"context"
	"fmt"
	"net"
	"slices"
	"time"

	"github.com/fwpsuite/fwp/internal/base/machine"
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

// occupied reports whether something accepts connections at the place of the server, and goes on with that: a process
// that we start beside this one has our listeners, such as that of reservePorts, until it runs its program.
func (i *Started) occupied(ctx context.Context) bool {
	for until := time.Now().Add(lingersFor); ; {
		nc, err := i.Server.Dial(ctx)
		if err != nil {
			return false
		}
		_ = nc.Close()
		if time.Now().After(until) || !machine.Sleep(ctx, readyPause) {
			return true
		}
	}
}

// alive returns an error if the command ended although something serves: that is not what it started. If that is one of
// its processes, the command is alive; else it gets a moment to end.
func (i *Started) alive(ctx context.Context) error {
	at, err := net.ResolveTCPAddr("tcp", i.Server.Address.HostPort())
	if err != nil {
		return err
	}
	patience := time.Duration(0)
	if serving := listening(at, i.now.pid); len(serving) > 0 && !serving.known() {
		patience = staysFor
	}
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-i.now.over:
	case <-timer.C:
		select {
		case <-i.now.over:
		default:
			return nil
		}
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	why := "when a client had connected and left, to see whether it serves"
	if i.occupied(ctx) {
		why = "and something else serves at its port"
	}
	return &StartError{Cause: fmt.Errorf("it ended (%s), %s", i.now.How(), why), Output: i.output.lines()}
}
