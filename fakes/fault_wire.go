package fakes

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/fwpsuite/fwp/fwp"
)

func lineFaults() []Fault {
	return []Fault{
		fault("line-double-space", "FRAME-03",
			"more than one space after the verb is accepted",
			on(Parsed, func(e *Event) { e.Command.Args = bytes.TrimLeft(e.Command.Args, " ") })),
		fault("line-trailing-space", "FRAME-03",
			"spaces at the end of a command are accepted",
			on(Parsed, func(e *Event) {
				if e.Command.Args = bytes.TrimRight(e.Command.Args, " "); len(e.Command.Args) == 0 {
					e.Command.Args = nil
				}
			})),
		fault("line-lower-case", "FRAME-03",
			"verbs in lower case are accepted",
			on(Parsed, func(e *Event) { e.Command.Verb = strings.ToUpper(e.Command.Verb) })),
		fault("line-empty-ok", "FRAME-03",
			"an empty line is answered with OK",
			when(Checked, "", func(e *Event) {
				if e.about() == AboutVerb {
					e.Err = nil
				}
			})),
		fault("line-lf", "FRAME-08 FRAME-03",
			"a line that ends with LF alone is accepted",
			on(LineRead, func(e *Event) {
				if e.about() == AboutLineEnd {
					e.Err = nil
				}
			})),
	}
}

// carriedFaults are about well-formed lines that the server changes.
func carriedFaults() []Fault {
	return []Fault{
		fault("line-segment-ends", "FRAME-05 LINK-02",
			"the end of a short segment ends the command",
			on(Received, func(e *Event) {
				if n := len(e.Bytes); n < 100 && e.Bytes[n-1] != '\n' && e.Bytes[n-1] != '\r' {
					e.Bytes = append(bytes.Clone(e.Bytes), "\r\n"...)
				}
			})),
		fault("line-long-cut", "FRAME-06 WU-03",
			"a text in args is cut after 64 KiB",
			when(Checked, fwp.PUSH, func(e *Event) { cutArgs(e.Object, 64<<10) })),
		fault("line-ascii", "FRAME-09 WU-03 WU-11",
			"characters of a job that are not ASCII become question marks",
			when(Parsed, fwp.PUSH, func(e *Event) {
				e.Command.Args = bytes.Map(func(r rune) rune {
					if r > unicode.MaxASCII {
						return '?'
					}
					return r
				}, e.Command.Args)
			})),
	}
}

func cutArgs(job *Object, limit int) {
	var args []any
	d := json.NewDecoder(bytes.NewReader(job.Get("args")))
	d.UseNumber()
	if len(job.Get("args")) <= limit || d.Decode(&args) != nil {
		return
	}
	for i, arg := range args {
		if s, ok := arg.(string); ok {
			args[i] = cut(s, limit)
		}
	}
	if b, err := json.Marshal(args); err == nil {
		job.Set("args", string(b))
	}
}

func replyFaults() []Fault {
	return []Fault{
		fault("reply-lf", "RESP-01",
			"the OK of a BEAT ends with LF alone",
			when(Writing, fwp.BEAT, func(e *Event) {
				if e.Reply.Kind == fwp.SimpleString {
					e.Bytes = bytes.ReplaceAll(e.Bytes, []byte("\r\n"), []byte("\n"))
				}
			})),
		fault("reply-error-simple", "RESP-02 BEAT-02 BEAT-05",
			"a BEAT that is refused for its wid is answered with a simple string that starts with ERR",
			when(Ran, fwp.BEAT, func(e *Event) {
				if e.about() == "wid" || e.about() == AboutWorker {
					e.Reply.Kind = fwp.SimpleString
				}
			})),
		fault("reply-length-characters", "RESP-03 FRAME-09",
			"the length of a job counts characters",
			when(Writing, fwp.FETCH, func(e *Event) {
				if e.Reply.Kind == fwp.BulkString {
					e.Bytes = fmt.Appendf(nil, "$%d\r\n%s\r\n", utf8.RuneCount(e.Reply.Text), e.Reply.Text)
				}
			})),
		fault("reply-null-array", "RESP-04 FETCH-03", "no job is the null array", nullAs("*-1\r\n")),
		fault("reply-null-empty", "RESP-04 FETCH-03", "no job is an empty bulk string", nullAs("$0\r\n\r\n")),
		fault("reply-unasked", "RESP-05",
			"a connection that is idle for 3 s is sent a line",
			on(Writing, func(e *Event) { e.Later = &Later{After: 3 * time.Second, Bytes: []byte("+PING\r\n")} })),
		fault("reply-cr", "RESP-07",
			"an error contains a CR of the command",
			on(Writing, func(e *Event) {
				if e.Err != nil && bytes.IndexByte(e.Line, '\r') >= 0 {
					e.Bytes = fmt.Appendf(nil, "-ERR cannot read %s\r\n", e.Line)
				}
			})),
	}
}

func nullAs(wire string) func(*Event) {
	return when(Writing, fwp.FETCH, func(e *Event) {
		if e.Reply.Kind == fwp.NullBulk {
			e.Bytes = []byte(wire)
		}
	})
}

func stepFaults() []Fault {
	return []Fault{
		fault("reply-twice", "RESP-06",
			"INFO is answered twice",
			when(Writing, fwp.INFO, func(e *Event) { e.Bytes = append(bytes.Clone(e.Bytes), e.Bytes...) })),
		fault("reply-missing", "RESP-06",
			"every 25th command of a connection is not answered",
			on(Writing, func(e *Event) {
				if e.Conn.Commands > 0 && e.Conn.Commands%25 == 0 {
					e.Bytes = nil
				}
			})),
		statefulFault("reply-swapped", "FETCH-04 RESP-06 FETCH-01",
			"every 50th job is swapped with the job of another connection",
			swapReplies),
	}
}

// swapper swaps the jobs of two connections: every 50th FETCH waits until the next one
// has a job too. After a short time without another it gets its own job, before a check
// would find it late.
type swapper struct {
	mu     sync.Mutex
	count  int
	parked *parked
}

type parked struct {
	own   fwp.Reply
	other chan fwp.Reply // holds one
}

func swapReplies() func(*Event) {
	s := &swapper{}
	return when(Ran, fwp.FETCH, func(e *Event) {
		if e.Reply.Kind != fwp.BulkString {
			return
		}
		if p := s.meet(e); p != nil {
			s.wait(e, p)
		}
	})
}

// meet swaps with the FETCH that waits, or returns what to wait for.
func (s *swapper) meet(e *Event) *parked {
	s.mu.Lock()
	defer s.mu.Unlock()
	own := fwp.Reply{Kind: e.Reply.Kind, Text: bytes.Clone(e.Reply.Text)}
	if p := s.parked; p != nil {
		s.parked = nil
		p.other <- own
		e.Reply = p.own
		return nil
	}
	if s.count++; s.count%50 != 0 {
		return nil
	}
	s.parked = &parked{own: own, other: make(chan fwp.Reply, 1)}
	return s.parked
}

func (s *swapper) wait(e *Event, p *parked) {
	timer := time.NewTimer(300 * time.Millisecond)
	defer timer.Stop()
	select {
	case e.Reply = <-p.other:
		return
	case <-timer.C:
	case <-e.Conn.Done:
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.parked == p {
		s.parked = nil
		return
	}
	e.Reply = <-p.other
}
