package target

import (
	"context"
	"errors"
	"net"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/internal/base/machine"
)

// dyingTime is how long a process may take to end after its port refuses connections: it may print a trace meanwhile.
const dyingTime = 5 * time.Second

// EndReport says how the server's process has ended although nothing asked it to, and what it printed last; nothing if
// it has not. A process that no longer serves connections gets a few seconds to end.
func (i *StartedServer) EndReport() string {
	ctx, cancel := context.WithTimeout(context.Background(), dyingTime)
	defer cancel()
	if i.leaves(ctx) {
		select {
		case <-i.running.done:
		case <-ctx.Done():
		}
	}
	status, output, hasEnded := i.Ended()
	if !hasEnded {
		return ""
	}
	return strings.Join(append([]string{status}, output...), "\n")
}

// Lifetime returns how long the server's process lived that has ended although nothing asked it to; 0 if it has not.
func (i *StartedServer) Lifetime() time.Duration {
	if _, _, hasEnded := i.Ended(); !hasEnded {
		return 0
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.running.endTime.Sub(i.running.startTime)
}

// ListenerPID returns the process that listens at the address of the server, of those that its command has started; 0
// if that is not known.
func (i *StartedServer) ListenerPID() int {
	for _, h := range i.Server.instance() {
		if h.pid != 0 {
			return h.pid
		}
	}
	return 0
}

// leaves reports whether the server refuses a connection, or ends it at once: when a process ends, the kernel closes
// its connections before the socket that listens, and then those that it has not accepted.
func (i *StartedServer) leaves(ctx context.Context) bool {
	nc, err := i.Server.Dial(ctx)
	if err != nil {
		return true
	}
	defer func() { _ = nc.Close() }()
	if err := nc.SetReadDeadline(time.Now().Add(silence)); err != nil {
		return true
	}
	_, err = nc.Read(make([]byte, 1))
	return err != nil && !errors.Is(err, os.ErrDeadlineExceeded)
}

// holder is a process that has a socket open which listens. pid is 0 if it is not known which process that is.
type holder struct {
	inode, startTime string
	pid              int
}

// instance is what of this machine listens at the address of a server, as far as that is known. It tells one start of a
// server from the next one.
type instance []holder

// instanceOf returns what listens at the other end of a connection; nothing if that is another machine.
func (s *Server) instanceOf(nc net.Conn) instance {
	remote, remoteOK := nc.RemoteAddr().(*net.TCPAddr)
	local, localOK := nc.LocalAddr().(*net.TCPAddr)
	if !remoteOK || !localOK || !remote.IP.IsLoopback() && !remote.IP.Equal(local.IP) {
		return nil
	}
	root := 0
	if s.wasStartedHere() {
		root = s.processes()
	}
	return instanceAt(remote, root)
}

// instance returns what listens of a server that a [Starter] has started; nothing for others.
func (s *Server) instance() instance {
	if !s.wasStartedHere() {
		return nil
	}
	at, err := net.ResolveTCPAddr("tcp", s.Address.HostPort())
	if err != nil {
		return nil
	}
	return instanceAt(at, s.processes())
}

// instanceAt returns what listens at an address of this machine. root, if not 0, is the process above what is looked
// for.
func instanceAt(at *net.TCPAddr, root int) instance {
	inodes := listeners(at)
	all := holders(inodes, root)
	for _, inode := range inodes {
		if !slices.ContainsFunc(all, func(h holder) bool { return h.inode == inode }) {
			all = append(all, holder{inode: inode})
		}
	}
	return all
}

// isReplacedBy reports whether nothing of a later instance was there before.
func (i instance) isReplacedBy(later instance) bool {
	same := func(a holder) bool {
		return slices.ContainsFunc(later, func(b holder) bool {
			return a == b || a.inode == b.inode && (a.pid == 0 || b.pid == 0)
		})
	}
	return len(i) > 0 && len(later) > 0 && !slices.ContainsFunc(i, same)
}

// isKnown reports whether it is known for every socket which process has it.
func (i instance) isKnown() bool {
	return len(i) > 0 && !slices.ContainsFunc(i, func(h holder) bool { return h.pid == 0 })
}

// moves reports whether the process does not stand still.
func (h holder) moves() bool {
	state, _ := processState(h.pid)
	return state != "T"
}

// standsStill waits a moment until all its processes, which must be known, stand still, and reports whether they do.
func (i instance) standsStill(ctx context.Context) bool {
	for until := time.Now().Add(silence); i.isKnown(); {
		switch {
		case !slices.ContainsFunc(i, holder.moves):
			return true
		case time.Now().After(until) || !machine.Sleep(ctx, lookInterval):
			return false
		}
	}
	return false
}
