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
		"hello-unreadable-closes":         faktory(helloUnreadable),
		"info-ends":                       faktory(infoEnds),
		"push-without-argument-dies":      faktory(dies(bare("PUSH"))),
		"queue-named-working-ends-fetch":  faktory(queueNamedWorking),
		"inspect-server-one-line-more":    ofWorkq(inspectServer),
		"payload-in-pieces-refused":       ofWorkq(refusedAdds),
		"run-deleted-error":               ofWorkq(runDeleted),
		"disconnect-kbye":                 eventmq(kbye),
		"inform-with-double-quotes-hangs": eventmq(doubleQuotes),
	}
}

func faktory(hook func() func(*fakes.Event)) registry.Bug {
	return registry.FWPBug(fakes.Bug{Hook: hook})
}

func ofWorkq(hook func() func(*fakeworkq.Event)) registry.Bug {
	return registry.WorkqBug(fakeworkq.Bug{Hook: hook})
}

func eventmq(hook func() func(*fakeemqp.Event)) registry.Bug {
	return registry.EMQPBug(fakeemqp.Bug{Hook: hook})
}

// dies returns the hook of a server that ends at a command: its connection is closed, and no other is accepted.
func dies(at func() func(*fakes.Event) bool) func() func(*fakes.Event) {
	return func() func(*fakes.Event) {
		var dead atomic.Bool
		at := at()
		return func(e *fakes.Event) {
			switch {
			case e.Point == fakes.Accepted:
				e.Skip = dead.Load()
			case e.Point == fakes.Writing && (dead.Load() || at(e)):
				dead.Store(true)
				e.Bytes, e.Close = nil, true
			}
		}
	}
}

// bare is a command of this verb without an argument.
func bare(verb string) func() func(*fakes.Event) bool {
	return func() func(*fakes.Event) bool {
		return func(e *fakes.Event) bool { return string(e.Line) == verb }
	}
}

// infoEnds closes the connection of the 100th INFO and of those that follow.
func infoEnds() func(*fakes.Event) {
	var came atomic.Int64
	return func(e *fakes.Event) {
		if e.Point == fakes.Writing && e.Command.Verb == "INFO" && came.Add(1) >= 100 {
			e.Bytes, e.Close = nil, true
		}
	}
}

// helloUnreadable closes the connection where a HELLO is refused.
func helloUnreadable() func(*fakes.Event) {
	return func(e *fakes.Event) {
		if e.Point == fakes.Writing && e.Err != nil && bytes.HasPrefix(e.Line, []byte("HELLO")) {
			e.Bytes, e.Close = nil, true
		}
	}
}

// queueNamedWorking refuses each FETCH that found a job, once a job was pushed to the queue working.
func queueNamedWorking() func(*fakes.Event) {
	var pushed atomic.Bool
	return func(e *fakes.Event) {
		switch {
		case e.Point == fakes.Writing && e.Command.Verb == "PUSH" && bytes.Contains(e.Line, []byte(`"queue":"working"`)):
			pushed.Store(true)
		case e.Point == fakes.Writing && e.Command.Verb == "FETCH" && pushed.Load():
			e.Bytes = []byte("-ERR WRONGTYPE\r\n")
		}
	}
}

// inspectServer has a line more than it announces.
func inspectServer() func(*fakeworkq.Event) {
	return func(e *fakeworkq.Event) {
		if e.Point == fakeworkq.Writing && e.Command.Verb == workq.InspectServer {
			e.Bytes = append(e.Bytes, "started 2026-11-29T10:00:00Z\r\n"...)
		}
	}
}

// refusedAdds refuses each add: a hook sees commands and not the segments in which they come, so that a payload in one
// piece is refused, too.
func refusedAdds() func(*fakeworkq.Event) {
	return func(e *fakeworkq.Event) {
		if e.Point == fakeworkq.Parsed && e.Command.Verb == "add" {
			e.Err = errors.New("invalid payload size")
		}
	}
}

// runDeleted answers a run with an error that the document does not have for it, once a job was deleted.
func runDeleted() func(*fakeworkq.Event) {
	var deleted atomic.Bool
	return func(e *fakeworkq.Event) {
		if e.Point == fakeworkq.Writing {
			deleted.Store(deleted.Load() || e.Command.Verb == workq.Delete && e.Reply.Error == "")
			if e.Command.Verb == workq.Run && deleted.Load() {
				e.Bytes = []byte("-SERVER-ERROR\r\n")
			}
		}
	}
}

// kbye sends KBYE in the place of KBAI.
func kbye() func(*fakeemqp.Event) {
	return func(e *fakeemqp.Event) {
		for i, frame := range e.Frames {
			if e.Sent && string(frame) == string(emqp.KBAI) {
				e.Frames[i] = []byte("KBYE")
			}
		}
	}
}

// doubleQuotes has no message handled behind an INFORM whose queues are the document's example with double quotes.
func doubleQuotes() func(*fakeemqp.Event) {
	hangs := false
	return func(e *fakeemqp.Event) {
		hangs = hangs || !e.Sent && bytes.Contains(bytes.Join(e.Frames, nil), []byte(`[40, "email"]`))
		e.Drop = e.Drop || hangs && !e.Sent
	}
}
