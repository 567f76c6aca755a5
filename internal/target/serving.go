package target

import (
	"context"
	"fmt"
	"net"
	"slices"
	"time"

	"github.com/fwpsuite/fwp/internal/base/machine"
)

// ServingProcess is what is known of the process that serves at the address of a server. It tells the server of one
// moment from that of a later one. The zero value knows nothing.
type ServingProcess struct {
	instance instance
	mark     ProcessInfo
}

// ServingFile is a file of a process that serves: its program, or one that its command line names.
type ServingFile struct {
	Name string // without the folder
	Path string // by which it can be read as long as the process lives
}

// ServingProcess looks at what serves now. It blocks for a few seconds at most.
func (s *Server) ServingProcess(ctx context.Context) (now ServingProcess) {
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	if nc, err := s.Dial(ctx); err == nil {
		now.instance = s.instanceOf(nc)
		_ = nc.Close()
	}
	if s.Probe.ProcessInfo != nil {
		now.mark, _ = s.Probe.ProcessInfo(ctx, s) // what it does not report is not known
	}
	return now
}

// IsReplacedBy reports whether it is seen that a later server is another process.
func (s ServingProcess) IsReplacedBy(later ServingProcess) bool {
	return s.instance.isReplacedBy(later.instance) || s.mark.isReplacedBy(later.mark)
}

// forwarders are programs that listen for a server which is another process, in a container or on another machine.
var forwarders = []string{
	"conmon", "docker", "docker-proxy", "kubectl", "ncat", "pasta", "pasta.avx2", "podman", "rootlessport",
	"slirp4netns", "socat", "ssh",
}

// Files returns the program that serves, and the files that its command line names; nothing if it is not known, or
// only forwards to the server.
func (s ServingProcess) Files() []ServingFile {
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

// isOccupied reports whether something accepts connections at the place of the server, and goes on with that: a process
// that we start beside this one has our listeners, such as that of reservePorts, until it runs its program.
func (i *StartedServer) isOccupied(ctx context.Context) bool {
	for until := time.Now().Add(lingerTime); ; {
		nc, err := i.Server.Dial(ctx)
		if err != nil {
			return false
		}
		_ = nc.Close()
		if time.Now().After(until) || !machine.Sleep(ctx, readyInterval) {
			return true
		}
	}
}

// checkAlive returns an error if the command ended although something serves: that is not what it started. If that is
// one of its processes, the command is alive; else it gets a moment to end.
func (i *StartedServer) checkAlive(ctx context.Context) error {
	at, err := net.ResolveTCPAddr("tcp", i.Server.Address.HostPort())
	if err != nil {
		return err
	}
	patience := time.Duration(0)
	if serving := instanceAt(at, i.running.pid); len(serving) > 0 && !serving.isKnown() {
		patience = aliveTime
	}
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-i.running.done:
	case <-timer.C:
		select {
		case <-i.running.done:
		default:
			return nil
		}
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	reason := "when a client had connected and left, to see whether it serves"
	if i.isOccupied(ctx) {
		reason = "and something else serves at its port"
	}
	return &StartError{Cause: fmt.Errorf("it ended (%s), %s", i.running.ExitStatus(), reason), Output: i.output.lines()}
}
