package check

import (
	"context"
	"fmt"
	"net"
	"sync"

	"github.com/fwpsuite/fwp/fakes/catalogue"
	"github.com/fwpsuite/fwp/fakes/fakeworkq"
	"github.com/fwpsuite/fwp/internal/cli/program"
	"github.com/fwpsuite/fwp/internal/double"
	"github.com/fwpsuite/fwp/internal/shortage"
)

// onlyFWPServes returns an error for files and flags of serve that have no effect on another server than that of FWP.
func (o *serveOptions) onlyFWPServes(title string, files []string) error {
	if len(files) > 0 {
		return fmt.Errorf("%s: %s", files[0], servesOnlyFWP)
	}
	for _, no := range []struct{ flag, why string }{
		{"web-port", "the control over HTTP shows jobs, workers and a journal of FWP: the embedded %s server has none"},
		{"password", "%s has no passwords"},
		{"password-file", "%s has no passwords"},
		{"tls-ca-out", "%s has no TLS"},
	} {
		if o.given.Changed(no.flag) {
			return fmt.Errorf("--%s: "+no.why, no.flag, title)
		}
	}
	return nil
}

// servesOnlyFWP says what serve does with scripts.
const servesOnlyFWP = "serve plays the server's side of scripts of FWP only, whose clients it can judge"

// serveWorkq runs the embedded Workq server until it is interrupted.
func (p process) serveWorkq(ctx context.Context, o *serveOptions, files []string) error {
	if err := o.onlyFWPServes("Workq", files); err != nil {
		return err
	}
	watch := &workqWatch{}
	config := fakeworkq.Config{Hook: watch.see}
	for _, name := range o.faults {
		fault, err := program.WorkqFaultNamed(name)
		if err != nil {
			return err
		}
		config.Hook = catalogue.Both(config.Hook, fault.Hook())
	}
	ctx, release := shortage.Watch(ctx)
	defer release()
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", loopbackAt(o.port))
	if err != nil {
		return fmt.Errorf("--port %d: %w", o.port, err)
	}
	server := fakeworkq.NewServer(config)
	defer server.Close()
	go server.Serve(noticingListener{l, ctx})
	return p.serving(ctx, "workq://"+l.Addr().String(), watch.summary)
}

// workqWatch counts what clients do.
type workqWatch struct {
	mu sync.Mutex
	s  double.Summary
}

// see is the hook of the server, before its faults. A command that cannot be read is a mistake.
func (w *workqWatch) see(e *fakeworkq.Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case e.Point == fakeworkq.Parsed && e.Err != nil:
		w.s.Mistakes = append(w.s.Mistakes, double.Entry{
			Mistake: e.Err.Error(), Connection: int64(e.Conn), Worker: "a client", Command: e.Command.Verb,
		})
	case e.Point == fakeworkq.Ran:
		w.s.Commands++
		if e.Reply.Error != "" && e.Reply.Error != "TIMEOUT" {
			w.s.Refused++
		}
	}
}

func (w *workqWatch) summary() double.Summary {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.s
}
