package check

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"sync"

	"github.com/fwpsuite/fwp/emqp"
	"github.com/fwpsuite/fwp/fakes/catalogue"
	"github.com/fwpsuite/fwp/fakes/fakeemqp"
	"github.com/fwpsuite/fwp/internal/cli/program"
	"github.com/fwpsuite/fwp/internal/double"
	"github.com/fwpsuite/fwp/internal/shortage"
)

// serveBroker runs the embedded broker of eMQP until it is interrupted.
func (p process) serveBroker(ctx context.Context, o *serveOptions, files []string) error {
	if err := o.onlyFWPServes("eMQP", files); err != nil {
		return err
	}
	watch := &emqpWatch{numbers: map[string]int64{}}
	config := fakeemqp.Config{Hook: watch.see}
	for _, name := range o.faults {
		fault, err := program.EMQPFaultNamed(name)
		if err != nil {
			return err
		}
		config.Hook = catalogue.Both(config.Hook, fault.Hook())
	}
	ctx, release := shortage.Watch(ctx)
	defer release()
	front, err := new(net.ListenConfig).Listen(ctx, "tcp", loopbackAt(o.port))
	if err != nil {
		return fmt.Errorf("--port %d: %w", o.port, err)
	}
	back, err := loopback(ctx)()
	if err != nil {
		return cmp.Or(front.Close(), err)
	}
	defer fakeemqp.Start(config, noticingListener{front, ctx}, back).Close()
	_, port, err := net.SplitHostPort(back.Addr().String())
	if err != nil {
		return err
	}
	return p.serving(ctx, "emqp://"+front.Addr().String()+"?backend="+port, watch.summary)
}

// emqpWatch counts what peers do.
type emqpWatch struct {
	mu      sync.Mutex
	s       double.Summary
	numbers map[string]int64 // of peers, by their identity
}

// see is the hook of the broker, before its faults. A message that the document does not allow is a mistake.
func (w *emqpWatch) see(e *fakeemqp.Event) {
	if e.Sent {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.numbers[e.Peer] == 0 {
		w.numbers[e.Peer] = int64(len(w.numbers) + 1)
	}
	w.s.Commands++
	m, err := emqp.Parse(e.Frames)
	if err == nil && m.Command == emqp.HEARTBEAT && e.Role == fakeemqp.Client {
		err = errors.New("a HEARTBEAT is valid after an INFORM only")
	}
	if err == nil {
		return
	}
	command := "a message"
	if len(e.Frames) > 2 && len(e.Frames[2]) > 0 {
		command = string(e.Frames[2])
	}
	w.s.Mistakes = append(w.s.Mistakes, double.Entry{
		Mistake: err.Error(), Connection: w.numbers[e.Peer], Worker: e.Peer, Command: command,
	})
}

func (w *emqpWatch) summary() double.Summary {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.s
}
