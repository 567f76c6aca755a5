package double

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/fwp"
)

// Stub says what the server does with some commands: it answers them with Reply, without carrying them out, or answers
// them late, or ends the connection. A command is matched by each field of Verb, Worker, JID and Jobtype that is not
// empty.
type Stub struct {
	Verb    string `json:"verb"`
	Worker  string `json:"worker,omitempty"`  // the wid
	JID     string `json:"jid,omitempty"`     // of the job that a PUSH, PUSHB, ACK or FAIL is about
	Jobtype string `json:"jobtype,omitempty"` // of that job
	Times   int    `json:"times,omitempty"`   // for so many commands; 0: for all
	// as scripts have it: "+OK", "-ERR busy", ":1", "$-1", "$text"; empty: its own
	Reply string `json:"reply,omitempty"`
	Delay string `json:"delay,omitempty"` // of the reply: "2s"
	Close bool   `json:"close,omitempty"` // the connection ends after the reply
	Used  int    `json:"used,omitempty"`  // how many commands it was for until now; the server counts

	reply fwp.Reply
	delay time.Duration
}

const mostStubs = 1000

// prepare reads the delay and the reply.
func (s *Stub) prepare() (err error) {
	named := s.JID != "" || s.Jobtype != ""
	switch {
	case s.Verb == "":
		return errors.New("verb is missing: give the command of the stub")
	case named && !slices.Contains([]string{fwp.PUSH, "PUSHB", fwp.ACK, fwp.FAIL}, s.Verb):
		return fmt.Errorf("jid and jobtype work only with PUSH, PUSHB, ACK and FAIL, not with %s", s.Verb)
	case s.Reply == "" && s.Delay == "" && !s.Close:
		return errors.New("a stub needs a reply, a delay or close")
	case s.Times < 0 || s.Used != 0:
		return errors.New("times must be 0 or more, and used must not be set")
	}
	if s.Delay != "" {
		if s.delay, err = time.ParseDuration(s.Delay); err != nil || s.delay <= 0 || s.delay > time.Hour {
			return errors.New(`delay must be a duration of at most 1h, such as "2s" or "300ms"`)
		}
	}
	return s.prepareReply()
}

func (s *Stub) prepareReply() (err error) {
	if s.Reply == "" {
		return nil
	}
	if s.reply, err = fakes.ParseReply(s.Reply); err != nil {
		err = fmt.Errorf("reply %w", err)
	}
	return err
}

// is reports whether the stub is for a command.
func (s *Stub) is(e *Entry) bool {
	if s.Verb != e.Verb || s.Worker != "" && s.Worker != e.Worker || s.Times > 0 && s.Used >= s.Times {
		return false
	}
	if s.JID == "" && s.Jobtype == "" {
		return true
	}
	return slices.ContainsFunc(e.units, func(unit []byte) bool {
		o, err := fakes.ParseObject(unit)
		return err == nil && cmp.Or(s.JID, o.Text("jid")) == o.Text("jid") &&
			cmp.Or(s.Jobtype, o.Text("jobtype")) == o.Text("jobtype")
	})
}

// AddStub adds a stub. Of several that are for a command the first one counts.
func (d *Double) AddStub(s Stub) error {
	if err := s.prepare(); err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.stubs) >= mostStubs {
		return fmt.Errorf("there are already %d stubs, the limit", mostStubs)
	}
	d.stubs = append(d.stubs, &s)
	return nil
}

// Stubs returns the stubs, and how often each was used.
func (d *Double) Stubs() []Stub {
	d.mu.Lock()
	defer d.mu.Unlock()
	all := []Stub{}
	for _, s := range d.stubs {
		all = append(all, *s)
	}
	return all
}

// RemoveStubs removes all stubs.
func (d *Double) RemoveStubs() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.stubs = nil
}

// choose finds the stub for the command of a connection, and has it not carried out if the stub has a reply.
func (d *Double) choose(e *fakes.Event) {
	d.mu.Lock()
	defer d.mu.Unlock()
	t := d.talks[e.Conn.ID]
	if t == nil {
		return
	}
	t.stub = nil
	i := slices.IndexFunc(d.stubs, func(s *Stub) bool { return s.is(&t.now) })
	if i < 0 {
		return
	}
	t.stub = d.stubs[i]
	t.stub.Used++
	if t.stub.Reply != "" {
		e.Err, e.Skip = nil, true
	}
}

// answer has the answer be that of the stub for the command.
func (t *talk) answer(e *fakes.Event) {
	if t == nil || t.stub == nil {
		return
	}
	if t.stub.Reply != "" {
		e.Reply, e.Err = t.stub.reply, nil
		if e.Reply.Kind == fwp.ErrorReply {
			e.Err = &fakes.Refusal{Text: string(e.Reply.Text)}
		}
	}
	e.Delay, e.Close = e.Delay+t.stub.delay, e.Close || t.stub.Close
	t.stub = nil
}
