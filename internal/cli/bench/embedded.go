package bench

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/fwpsuite/fwp/internal/cli/shared"
	"github.com/fwpsuite/fwp/internal/registry"
	"github.com/fwpsuite/fwp/internal/target"
)

// newEmbedded builds `fwpbench embedded`, the embedded server as a process of its
// own. It is what run starts without a target, so that the server's work is not
// counted as the generator's.
func newEmbedded(p process) *cobra.Command {
	var e embedding
	cmd := &cobra.Command{
		Use:    "embedded",
		Short:  "Run the embedded server on a free port of 127.0.0.1 until standard input ends",
		Hidden: true,
		Args:   shared.NoArguments,
		RunE:   func(*cobra.Command, []string) error { return p.serve(e) },
	}
	cmd.Flags().StringVar(&e.protocol, "protocol", "", "the `PROTOCOL`")
	cmd.Flags().StringVar(&e.extension, "extension", "", "the `EXTENSION`")
	cmd.Flags().StringVar(&e.bug, "bug", "", "the planted bug `NAME` of the catalogue")
	cmd.Flags().StringVar(&e.variation, "variation", "", "the variation `NAME` of the catalogue")
	cmd.Flags().DurationVar(&e.burden, "burden", 0, "use the CPU for this long at each command")
	return cmd
}

// embedding is what is special about an embedded server.
type embedding struct {
	protocol            string        // a name; empty: the default
	extension           string        // a name; empty: none
	bug                 string        // a name of the catalogue; empty: none
	variation           string        // the same
	burden              time.Duration // of computing at each command
	generatorProcessors int           // processors that the generator uses
}

// embedding returns what the flags say about the embedded server of a target.
func (o *loadFlags) embedding(at shared.Endpoint) embedding {
	return embedding{protocol: at.Entry.Name, bug: o.bug, variation: o.variation}
}

// serve prints the server's URL and serves until standard input ends.
func (p process) serve(e embedding) error {
	entry, err := shared.EntryWith(e.protocol, e.extension)
	if err != nil {
		return err
	}
	config := registry.Config{Network: burdenNetwork(e.burden)}
	if config.Bugs, err = entry.BugsNamed(e.bug); err != nil {
		return err
	}
	if config.Variation, err = entry.VariationNamed(e.variation); err != nil {
		return err
	}
	server, err := entry.Start(config)
	if err != nil {
		return err
	}
	defer server.Close()
	if err := p.Print(server.URL + "\n"); err != nil {
		return err
	}
	return p.obey(server)
}

// The orders that an embedded server takes on its standard input, a line each. It answers each with a line, which is
// okReply or the error.
const (
	stopOrder  = "stop"  // in good order
	killOrder  = "kill"  // with every connection reset
	startOrder = "start" // it serves again, with the same store
	okReply    = "ok"
)

// obey does what standard input orders, and returns when that ends.
func (p process) obey(server *registry.Server) error {
	for orders := bufio.NewScanner(p.In); orders.Scan(); {
		err := errors.New("it cannot be stopped and started again")
		switch order := orders.Text(); {
		case server.Stop == nil:
		case order == startOrder:
			err = server.Start()
		default:
			err = server.Stop(order == killOrder)
		}
		reply := okReply
		if err != nil {
			reply = err.Error()
		}
		if err := p.Print(reply + "\n"); err != nil {
			return err
		}
	}
	return nil
}

// burdenNetwork returns the network of this machine, whose servers compute for a while at each read, which slows them
// down.
func burdenNetwork(burden time.Duration) registry.TCP {
	if burden == 0 {
		return registry.TCP{}
	}
	return registry.TCP{Wrap: func(nc net.Conn) net.Conn { return burdenedConn{nc, burden} }}
}

type burdenedConn struct {
	net.Conn

	burden time.Duration
}

func (c burdenedConn) Read(b []byte) (n int, err error) {
	n, err = c.Conn.Read(b)
	for from := time.Now(); err == nil && time.Since(from) < c.burden; {
	}
	return n, err
}

// embeddedProcess is an embedded server in a process of its own.
type embeddedProcess struct {
	address target.Address
	process *os.Process
	end     func()

	orders  io.Writer
	replies *bufio.Reader
}

// Can implements [target.Operator]: the store outlives a stop.
func (s *embeddedProcess) Can(action target.Action) bool {
	return slices.Contains([]target.Action{
		target.Stop, target.Kill, target.KillServer, target.Start, target.Pause, target.Resume,
	}, action)
}

// Do implements [target.Operator].
func (s *embeddedProcess) Do(_ context.Context, action target.Action, _ string) error {
	switch action {
	case target.Stop:
		return s.order(stopOrder)
	case target.Start:
		return s.order(startOrder)
	case target.Pause:
		return suspend(s.process)
	case target.Resume:
		return resume(s.process)
	}
	return s.order(killOrder)
}

// order gives an order, and waits until it is obeyed.
func (s *embeddedProcess) order(word string) error {
	if _, err := io.WriteString(s.orders, word+"\n"); err != nil {
		return fmt.Errorf("the embedded server: %w", err)
	}
	reply, err := s.replies.ReadString('\n')
	if err != nil {
		return fmt.Errorf("the embedded server: %w", err)
	}
	if reply = strings.TrimSpace(reply); reply != okReply {
		return errors.New("the embedded server: " + reply)
	}
	return nil
}

// startEmbedded starts the embedded server as a process of its own. It serves until end is called, which waits until it
// has ended, or until this process ends for any reason.
func startEmbedded(ctx context.Context, e embedding) (s embeddedProcess, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("start the embedded server: %w", err)
		}
	}()
	cmd, err := embeddedCommand(ctx, e)
	if err != nil {
		return s, err
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		return s, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return s, err
	}
	var stderr strings.Builder
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		return s, err
	}
	s.process, s.orders, s.replies = cmd.Process, in, bufio.NewReader(out)
	s.end = func() {
		_ = in.Close()
		_ = cmd.Wait()
	}
	url, err := s.replies.ReadString('\n')
	if err == nil {
		s.address, err = target.ParseURL(strings.TrimSpace(url), registry.Schemes()...)
	}
	if err != nil {
		s.end()
		return s, fmt.Errorf("%w; it printed: %s", err, stderr.String())
	}
	return s, nil
}

// embeddedCommand returns this program as the embedded server. An interrupt does not end it: the run still empties
// its queues.
func embeddedCommand(ctx context.Context, e embedding) (*exec.Cmd, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(context.WithoutCancel(ctx), program, "embedded", "--protocol", e.protocol,
		"--extension", e.extension, "--bug", e.bug, "--variation", e.variation, "--burden", e.burden.String())
	procs := max(1, runtime.NumCPU()-e.generatorProcessors) // not all, since idle threads of Go poll for work
	cmd.Env = append(os.Environ(), "GOMAXPROCS="+strconv.Itoa(procs))
	cmd.WaitDelay = 5 * time.Second
	cmd.SysProcAttr = processGroup()
	return cmd, nil
}
