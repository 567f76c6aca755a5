package double

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/fakes/rule"
	"github.com/fwpsuite/fwp/protocols/fwp"
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
	Uses  int    `json:"used,omitempty"`  // how many commands it was for until now; the server counts

	hook func(*fakes.Event) // of its rules
}

const maxStubs = 1000

// prepare checks the stub, and makes its hook.
func (s *Stub) prepare() error {
	hasJob := s.JID != "" || s.Jobtype != ""
	switch {
	case s.Verb == "":
		return errors.New("verb is missing: give the command of the stub")
	case !slices.Contains(fakes.Rules().Verbs, s.Verb):
		return unknownVerb(s.Verb)
	case hasJob && !slices.Contains([]string{fwp.PUSH, "PUSHB", fwp.ACK, fwp.FAIL}, s.Verb):
		return fmt.Errorf("jid and jobtype work only with PUSH, PUSHB, ACK and FAIL, not with %s", s.Verb)
	case s.Reply == "" && s.Delay == "" && !s.Close:
		return errors.New("a stub needs a reply, a delay or close")
	case s.Times < 0 || s.Uses != 0:
		return errors.New("times must be 0 or more, and used must not be set")
	}
	var rules []rule.Rule[fakes.Event]
	for _, text := range s.rules() {
		r, err := fakes.Rules().Parse(text)
		if ruleErr, ok := errors.AsType[*rule.Error](err); ok {
			return errors.New(ruleErr.Text) // its place is not one of the request
		}
		rules = append(rules, r)
	}
	s.hook = rule.Hooks(rules...)
	return nil
}

// unknownVerb refuses a verb that no line can have: nothing would ever match it.
func unknownVerb(verb string) error {
	return fmt.Errorf("verb: %q is no command; expected one of %s", verb, strings.Join(fakes.Rules().Verbs, ", "))
}

// rules returns what the stub does with a command that it is for.
func (s *Stub) rules() (all []string) {
	var acts []string
	if s.Reply != "" {
		all = append(all, "on checked: accept, skip")
		acts = append(acts, "reply "+rule.Quote(s.Reply))
	}
	if s.Delay != "" {
		acts = append(acts, "delay "+rule.Quote(s.Delay))
	}
	if s.Close {
		acts = append(acts, "close")
	}
	return append(all, "on ran: "+strings.Join(acts, ", "))
}

// matches reports whether the stub is for a command. No rule can say that: the journal alone knows the job of an ACK.
func (s *Stub) matches(e *Entry) bool {
	if s.Verb != e.Verb || s.Worker != "" && s.Worker != e.Worker || s.Times > 0 && s.Uses >= s.Times {
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
	if len(d.stubs) >= maxStubs {
		return fmt.Errorf("there are already %d stubs, the limit", maxStubs)
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

// chooseStub finds the stub for the command of a connection.
func (d *Double) chooseStub(e *fakes.Event) {
	d.mu.Lock()
	defer d.mu.Unlock()
	t := d.talks[e.Conn.ID]
	if t == nil {
		return
	}
	t.stub = nil
	i := slices.IndexFunc(d.stubs, func(s *Stub) bool { return s.matches(&t.entry) })
	if i < 0 {
		return
	}
	t.stub = d.stubs[i]
	t.stub.Uses++
	t.stub.hook(e)
}
