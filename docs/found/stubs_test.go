package found_test

import (
	"bytes"
	"errors"
	"sync/atomic"

	"github.com/fwpsuite/fwp/fakes"
	fakeemqp "github.com/fwpsuite/fwp/fakes/emqp"
	fakeworkq "github.com/fwpsuite/fwp/fakes/workq"
	"github.com/fwpsuite/fwp/internal/registry"
	"github.com/fwpsuite/fwp/protocols/emqp"
	"github.com/fwpsuite/fwp/protocols/workq"
)

// stubs are the bugs that no bug of the catalogues imitates.
func stubs() map[string]registry.Bug {
	return map[string]registry.Bug{
		"hello-unreadable-closes":         faktoryBug(closeOnHello),
		"info-ends":                       faktoryBug(closeOnInfo),
		"push-without-argument-dies":      faktoryBug(endServer(bareCommand("PUSH"))),
		"queue-named-working-ends-fetch":  faktoryBug(refuseFetch),
		"inspect-server-one-line-more":    workqBug(addInspectLine),
		"payload-in-pieces-refused":       workqBug(refuseAdds),
		"run-deleted-error":               workqBug(failRunAfterDelete),
		"disconnect-kbye":                 emqpBug(sendKBYE),
		"inform-with-double-quotes-hangs": emqpBug(dropAfterInform),
	}
}

func faktoryBug(hook func() func(*fakes.Event)) registry.Bug {
	return registry.FWPBug(fakes.Bug{Hook: hook})
}

func workqBug(hook func() func(*fakeworkq.Event)) registry.Bug {
	return registry.WorkqBug(fakeworkq.Bug{Hook: hook})
}

func emqpBug(hook func() func(*fakeemqp.Event)) registry.Bug {
	return registry.EMQPBug(fakeemqp.Bug{Hook: hook})
}

// endServer returns the hook of a server that ends at a command: its connection is closed, and no other is accepted.
func endServer(matches func() func(*fakes.Event) bool) func() func(*fakes.Event) {
	return func() func(*fakes.Event) {
		var isDead atomic.Bool
		matches := matches()
		return func(e *fakes.Event) {
			switch {
			case e.Point == fakes.Accepted:
				e.Skip = isDead.Load()
			case e.Point == fakes.Writing && (isDead.Load() || matches(e)):
				isDead.Store(true)
				e.Bytes, e.Close = nil, true
			}
		}
	}
}

// bareCommand is a command of this verb without an argument.
func bareCommand(verb string) func() func(*fakes.Event) bool {
	return func() func(*fakes.Event) bool {
		return func(e *fakes.Event) bool { return string(e.Line) == verb }
	}
}

// closeOnInfo closes the connection of the 100th INFO and of those that follow.
func closeOnInfo() func(*fakes.Event) {
	var count atomic.Int64
	return func(e *fakes.Event) {
		if e.Point == fakes.Writing && e.Command.Verb == "INFO" && count.Add(1) >= 100 {
			e.Bytes, e.Close = nil, true
		}
	}
}

// closeOnHello closes the connection where a HELLO is refused.
func closeOnHello() func(*fakes.Event) {
	return func(e *fakes.Event) {
		if e.Point == fakes.Writing && e.Err != nil && bytes.HasPrefix(e.Line, []byte("HELLO")) {
			e.Bytes, e.Close = nil, true
		}
	}
}

// refuseFetch refuses each FETCH that found a job, once a job was pushed to the queue working.
func refuseFetch() func(*fakes.Event) {
	var isPushed atomic.Bool
	return func(e *fakes.Event) {
		switch {
		case e.Point == fakes.Writing && e.Command.Verb == "PUSH" && bytes.Contains(e.Line, []byte(`"queue":"working"`)):
			isPushed.Store(true)
		case e.Point == fakes.Writing && e.Command.Verb == "FETCH" && isPushed.Load():
			e.Bytes = []byte("-ERR WRONGTYPE\r\n")
		}
	}
}

// addInspectLine has a line more than it announces.
func addInspectLine() func(*fakeworkq.Event) {
	return func(e *fakeworkq.Event) {
		if e.Point == fakeworkq.Writing && e.Command.Verb == workq.InspectServer {
			e.Bytes = append(e.Bytes, "started 2026-11-29T10:00:00Z\r\n"...)
		}
	}
}

// refuseAdds refuses each add: a hook sees commands and not the segments in which they come, so that a payload in one
// piece is refused, too.
func refuseAdds() func(*fakeworkq.Event) {
	return func(e *fakeworkq.Event) {
		if e.Point == fakeworkq.Parsed && e.Command.Verb == "add" {
			e.Err = errors.New("invalid payload size")
		}
	}
}

// failRunAfterDelete answers a run with an error that the document does not have for it, once a job was deleted.
func failRunAfterDelete() func(*fakeworkq.Event) {
	var isDeleted atomic.Bool
	return func(e *fakeworkq.Event) {
		if e.Point == fakeworkq.Writing {
			isDeleted.Store(isDeleted.Load() || e.Command.Verb == workq.Delete && e.Reply.Error == "")
			if e.Command.Verb == workq.Run && isDeleted.Load() {
				e.Bytes = []byte("-SERVER-ERROR\r\n")
			}
		}
	}
}

// sendKBYE sends KBYE in the place of KBAI.
func sendKBYE() func(*fakeemqp.Event) {
	return func(e *fakeemqp.Event) {
		for i, frame := range e.Frames {
			if e.IsFromBroker && string(frame) == string(emqp.KBAI) {
				e.Frames[i] = []byte("KBYE")
			}
		}
	}
}

// dropAfterInform has no message handled behind an INFORM whose queues are the document's example with double quotes.
func dropAfterInform() func(*fakeemqp.Event) {
	isHung := false
	return func(e *fakeemqp.Event) {
		isHung = isHung || !e.IsFromBroker && bytes.Contains(bytes.Join(e.Frames, nil), []byte(`[40, "email"]`))
		e.Drop = e.Drop || isHung && !e.IsFromBroker
	}
}
