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
