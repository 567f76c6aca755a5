package suite

import (
	"context"
	"crypto/rand"
	"fmt"
	"net"
	"time"

	"github.com/fwpsuite/fwp/protocols/emqp"
	"github.com/fwpsuite/fwp/protocols/emqp/zmtp"
	"github.com/fwpsuite/fwp/scenarios/play"
)

// form is a way to write a queue of an INFORM. The document has an example and no grammar (EMQ-AMB-02).
type form string

// The forms: that of the checks, and the example of the document with either quotes.
const (
	checkForm    form = `[[10,"%s"]]`
	doubleQuotes form = `[10, "%s"]`
	singleQuotes form = `[10, '%s']`
)

// probeForms returns an error if a broker reads the queues of an INFORM in a form that the document allows, and not in
// that of the checks, which would then blame it for what it need not do.
func probeForms(ctx context.Context, t play.Target) error {
	const limit = 10 * time.Second
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	if checkForm.delivers(ctx, t) {
		return nil
	}
	for _, f := range []form{singleQuotes, doubleQuotes} {
		if f.delivers(ctx, t) && !checkForm.delivers(ctx, t) {
			return fmt.Errorf("this broker reads the queues of an INFORM as "+string(f)+", and the checks write "+
				string(checkForm)+"; the document allows both (EMQ-AMB-02), so the checks cannot test it", "NAME", "NAME")
		}
	}
	return nil
}

// delivers reports whether a worker that writes its queue in a form gets a REQUEST.
func (f form) delivers(ctx context.Context, t play.Target) bool {
	const ackWait, patience = 300 * time.Millisecond, time.Second
	dial := t.Dial
	if target, ok := t.(play.BackendTarget); ok {
		dial = target.DialBackend
	}
	worker, client := dealer(ctx, dial), dealer(ctx, t.Dial)
	defer closeAll(worker, client)
	if worker == nil || client == nil {
		return false
	}
	queue := "fwp-" + rand.Text()
	inform := emqp.InformWorker("inform-" + queue)
	inform.Fields[0] = fmt.Appendf(nil, string(f), queue)
	if worker.Send(ctx, inform.Frames()...) != nil {
		return false
	}
	receive(ctx, worker, ackWait, emqp.ACK)
	for _, err := range []error{
		worker.Send(ctx, emqp.Ready("ready-"+queue).Frames()...),
		client.Send(ctx, emqp.Request("request-"+queue, queue, nil, queue).Frames()...),
	} {
		if err != nil {
			return false
		}
	}
	return receive(ctx, worker, patience, emqp.REQUEST)
}

// dealer connects, and returns nil if that fails.
func dealer(ctx context.Context, dial func(context.Context) (net.Conn, error)) *zmtp.Dealer {
	nc, err := dial(ctx)
	if err != nil {
		return nil
	}
	d, err := zmtp.NewDealer(ctx, nc, zmtp.Config{})
	if err != nil {
		return nil
	}
	return d
}

func closeAll(all ...*zmtp.Dealer) {
	for _, d := range all {
		if d != nil {
			d.Close()
		}
	}
}

// receive reports whether a command comes within a limit.
func receive(ctx context.Context, from *zmtp.Dealer, limit time.Duration, command string) bool {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	for {
		parts, err := from.Receive(ctx)
		if err != nil {
			return false
		}
		if m, err := emqp.Parse(parts); err == nil && m.Command == command {
			return true
		}
	}
}
