// Package wire speaks the Faktory Work Protocol for the connections of a load.
package wire

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/fwpsuite/fwp/internal/base/text"
	"github.com/fwpsuite/fwp/internal/session"
	"github.com/fwpsuite/fwp/load/measure"
	"github.com/fwpsuite/fwp/load/plan"
	"github.com/fwpsuite/fwp/load/wire"
	"github.com/fwpsuite/fwp/protocols/fwp"
)

// pushAll is the command for several jobs that an extension adds to the protocol.
const pushAll = "PUSHB"

// Config is what the connections of a run have in common. The zero value works with a
// server that is not protected.
type Config struct {
	Password string
	Hostname string // of the workers; "" is "fwpbench"
	PID      int    // of the workers

	Batches bool // the run needs PUSHB, a command of the extension

	largestPush atomic.Int64 // bytes of a PUSH that was written
}

// The limits of what is read of a server, in bytes: of its greeting, and of a reply, to which the largest job is added
// with each character escaped. The specification states none.
const (
	greetingLimit = 64 << 10
	replyLimit    = 256 << 10
	infoLimit     = 16 << 20
	escapeLength  = len(`\u0000`)
)

// limit returns the limit of the message that is due.
func (s *speaker) limit() int {
	switch s.verb {
	case "":
		return greetingLimit
	case fwp.INFO: // it may list all queues
		return infoLimit
	}
	return replyLimit + escapeLength*int(s.config.largestPush.Load())
}

// New returns a Config whose workers name this machine and this process.
func New(password string) *Config {
	hostname, _ := os.Hostname() // Speaker has a name if it is not known
	return &Config{Password: password, Hostname: hostname, PID: os.Getpid()}
}

// Speaker implements [wire.Protocol].
func (c *Config) Speaker(worker string) wire.Speaker {
	return &speaker{config: c, worker: worker}
}

// speaker is one connection's.
type speaker struct {
	config *Config
	worker string
	verb   string // verb of the command in flight; empty: the greeting is due
	hash   *hash  // nil: there is nothing to hash
}

// hash is that of the password, computed aside.
type hash struct {
	text string
	err  error
}

// Open appends HELLO once the server has sent HI. (Not Identified State)
func (s *speaker) Open(out []byte) ([]byte, error) {
	if s.verb == "" {
		return out, nil
	}
	hello := fwp.Hello{WorkerID: s.worker}
	if s.worker != "" {
		hello.Hostname, hello.PID, hello.Labels = s.config.Hostname, s.config.PID, []string{"fwpbench"}
		hello.Hostname = cmp.Or(hello.Hostname, "fwpbench")
	}
	if s.hash != nil {
		if s.hash.err != nil {
			return out, s.hash.err
		}
		hello.PasswordHash = s.hash.text
	}
	return fwp.AppendCommand(out, hello.Command()), nil
}

func (s *speaker) Push(out []byte, job *plan.Push) []byte {
	s.verb = fwp.PUSH
	begin := len(out)
	out = append(job.AppendBody(append(out, "PUSH "...)), "\r\n"...)
	if size := int64(len(out) - begin); size > s.config.largestPush.Load() {
		s.config.largestPush.Store(size)
	}
	return out
}

// PushAll implements [wire.Batcher].
func (s *speaker) PushAll(out []byte, jobs []plan.Push) []byte {
	s.verb = pushAll
	begin := len(out)
	out = append(out, "PUSHB ["...)
	for i := range jobs {
		if i > 0 {
			out = append(out, ',')
		}
		out = jobs[i].AppendBody(out)
	}
	out = append(out, "]\r\n"...)
	if size := int64(len(out) - begin); size > s.config.largestPush.Load() {
		s.config.largestPush.Store(size)
	}
	return out
}

func (s *speaker) Fetch(out []byte, from *wire.Queues) []byte {
	s.verb = fwp.FETCH
	if from.Line == nil {
		from.Line = []byte("FETCH " + strings.Join(from.Names, " ") + "\r\n")
	}
	return append(out, from.Line...)
}

func (s *speaker) Ack(out, jid []byte) []byte {
	s.verb = fwp.ACK
	out = append(append(out, `ACK {"jid":"`...), jid...)
	return append(out, "\"}\r\n"...)
}

func (s *speaker) Fail(out, jid []byte) []byte {
	s.verb = fwp.FAIL
	out = append(append(out, `FAIL {"jid":"`...), jid...)
	return append(out, `","errtype":"fwpbench","message":"failed on purpose","backtrace":[]}`+"\r\n"...)
}

func (s *speaker) Beat(out []byte, state wire.State) []byte {
	s.verb = fwp.BEAT
	out = append(append(out, `BEAT {"wid":"`...), s.worker...)
	switch state {
	case wire.Quiet:
		out = append(out, `","current_state":"quiet`...)
	case wire.Terminating:
		out = append(out, `","current_state":"terminate`...)
	}
	return append(out, "\"}\r\n"...)
}

func (s *speaker) Info(out []byte) []byte {
	s.verb = fwp.INFO
	return append(out, "INFO\r\n"...)
}

func (s *speaker) Bye(out []byte) []byte {
	s.verb = fwp.END
	return append(out, "END\r\n"...)
}

// Hear reads a reply by the command that it answers.
func (s *speaker) Hear(in []byte, e *wire.Event) (int, error) {
	r, n, err := fwp.Decode(in, s.limit())
	switch {
	case errors.Is(err, fwp.ErrShort):
		return 0, wire.ErrShort
	case err != nil:
		return 0, decodeError(s.verb, err)
	case s.verb == "":
		err = s.readGreeting(r, e)
	case r.Kind == fwp.ErrorReply:
		e.Kind, e.Err = wire.Refusal, &wire.RefusedError{Text: text.Shorten(string(r.Text))}
	case !s.readAnswer(&r, e):
		err = foreignReply(s.verb, format(r))
	}
	if err != nil {
		return 0, err
	}
	return n, nil
}

// readAnswer reports whether the command in flight has such a reply, which is not an error, and
// writes its meaning to e.
func (s *speaker) readAnswer(r *fwp.Reply, e *wire.Event) bool {
	switch s.verb {
	case fwp.FETCH:
		e.Kind, e.Body = wire.Job, r.Text
		if r.Kind == fwp.NullBulk {
			e.Kind = wire.Empty
		}
		return r.Kind == fwp.BulkString || r.Kind == fwp.NullBulk
	case fwp.INFO:
		e.Body = r.Text
		return r.Kind == fwp.BulkString
	case pushAll:
		return r.Kind == fwp.BulkString && (string(r.Text) == "{}" || json.Unmarshal(r.Text, &e.Refusals) == nil)
	}
	return r.Kind == fwp.SimpleString && string(r.Text) == "OK" || s.verb == fwp.BEAT && readOrder(r, e)
}

// readOrder reports whether a reply to BEAT orders a state, and writes which. (BEAT Command)
func readOrder(r *fwp.Reply, e *wire.Event) bool {
	e.Kind = wire.Order
	switch fwp.Identified.Next(fwp.BEAT, *r) {
	case fwp.Quiet:
		e.State = wire.Quiet
	case fwp.Terminating:
		e.State = wire.Terminating
	}
	return e.State != wire.Working
}

// ParseInfo implements [wire.InfoParser]. The specification leaves open what INFO has: this is Faktory's form.
func (*speaker) ParseInfo(info []byte) wire.ServerJobs {
	var read struct {
		Faktory struct {
			Queues   map[string]int64
			Enqueued *int64 `json:"total_enqueued"`
			Tasks    map[string]struct{ Size *int64 }
		}
	}
	_ = json.Unmarshal(info, &read) // a server with another form tells no sizes
	stock := wire.ServerJobs{Queues: read.Faktory.Queues, IsComplete: read.Faktory.Enqueued != nil}
	if !stock.IsComplete {
		return stock
	}
	stock.Alive = *read.Faktory.Enqueued
	for task, sum := range map[string]*int64{
		"Scheduled": &stock.Alive, "Retries": &stock.Alive, "Busy": &stock.Alive, "Dead": &stock.Dead,
	} {
		size := read.Faktory.Tasks[task].Size
		if stock.IsComplete = stock.IsComplete && size != nil; size != nil {
			*sum += *size
		}
	}
	return stock
}

// readGreeting reads HI. The work is the password's hash.
func (s *speaker) readGreeting(r fwp.Reply, e *wire.Event) error {
	hi, err := fwp.ParseHi(r)
	switch {
	case r.Kind == fwp.ErrorReply:
		e.Kind, e.Err = wire.Refusal, &wire.RefusedError{Text: text.Shorten(string(r.Text))}
		return nil
	case err != nil:
		return &wire.BreachError{Breach: wire.ImpossibleReply, Description: err.Error()}
	}
	s.verb = fwp.HELLO
	e.Kind = wire.Greeting
	if hi.Protected {
		h, password := new(hash), s.config.Password
		s.hash = h
		e.Work = func() { h.text, h.err = fwp.PasswordHash(password, hi.Salt, hi.Iterations) }
	}
	return nil
}

var verbs = map[measure.Op]string{
	measure.Hello: fwp.HELLO, measure.Push: fwp.PUSH, measure.Fetch: fwp.FETCH, measure.FetchFound: fwp.FETCH,
	measure.FetchWaited: fwp.FETCH, measure.FetchEmpty: fwp.FETCH, measure.Ack: fwp.ACK, measure.Fail: fwp.FAIL,
	measure.Beat: fwp.BEAT, measure.Info: fwp.INFO, measure.End: fwp.END,
}

func (*speaker) Verb(op measure.Op) string { return verbs[op] }

// Times are what the protocol recommends for BEAT, what it advises not to go below, and
// the 30 s of a worker that is ordered to terminate, less 5 s in which to report.
// (Client Lifecycle; Terminating State)
func (*speaker) Times() wire.Times {
	return wire.Times{
		Beat: 15 * time.Second, BeatApart: 5 * time.Second, Wait: 2 * time.Second, WaitsOnFirst: true,
		FailAfter: 25 * time.Second, EndAfter: 30 * time.Second, KeepsJobs: true,
	}
}

// foreignReply returns the breach of a reply that the command does not have. The empty verb is the greeting.
func foreignReply(verb, reply string) *wire.BreachError {
	to := "the server greeted"
	if verb != "" {
		to = verb + " was answered"
	}
	return &wire.BreachError{Verb: verb, Breach: wire.ImpossibleReply + verb, Description: to + " with " + reply}
}

// decodeError returns what an error of decoding the reply to a verb is: a limit of ours may leave open what the reply
// is.
func decodeError(verb string, err error) error {
	syntax, _ := errors.AsType[*fwp.SyntaxError](err) // there is no other one but that it is short
	switch {
	case syntax.Foreign(verb):
		return foreignReply(verb, "the "+syntax.Kind.String()+" "+syntax.Got)
	case syntax.Limit():
		return fmt.Errorf("%w: %w", wire.ErrTooLong, err)
	}
	return invalidReply(verb, syntax.Rule.String(), err)
}

// format describes a reply, shortened.
func format(r fwp.Reply) string {
	switch r.Kind {
	case fwp.Integer:
		return fmt.Sprintf("the integer %d", r.Int)
	case fwp.NullBulk:
		return "the null bulk string"
	case fwp.Array:
		return fmt.Sprintf("an array of %d", len(r.Array))
	}
	return "the " + r.Kind.String() + " " + wire.Quote(r.Text)
}

// invalidReply returns the breach of bytes that break a rule of RESP, as err describes it.
func invalidReply(verb, rule string, err error) *wire.BreachError {
	to := "the greeting"
	if verb != "" {
		to = "the reply to " + verb
	}
	breach := wire.BrokenGrammar + rule
	if strings.HasPrefix(rule, session.ImpossibleReply) {
		breach = rule
	}
	return &wire.BreachError{Verb: verb, Breach: breach, Description: to + " is invalid RESP: " + err.Error()}
}
