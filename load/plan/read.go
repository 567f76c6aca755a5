package plan

import (
	"fmt"
	"time"
)

// Delivery is what a delivered job carries.
type Delivery struct {
	Number   int64
	Intended time.Duration // of its push, since the engine's start
	Queue    int           // an index of [Jobs.Queues]
	JID      []byte        // lies in the body, unless there it holds escapes
	stamps   rawStamps     // lie in the body
}

// BodyError is a body that is not the JSON of a job.
type BodyError struct {
	Offset      int // of the byte that cannot be right
	Description string
}

// Error returns what was expected, and at which byte.
func (e *BodyError) Error() string {
	return fmt.Sprintf("the body is not a job in JSON: byte %d: %s", e.Offset, e.Description)
}

// ForeignError is a job that this run has not pushed.
type ForeignError struct {
	JID string // empty if it has none
}

// Error names the job.
func (e *ForeignError) Error() string { return fmt.Sprintf("job %q is not from this run", e.JID) }

// WrongError is a job of this run whose parts do not belong together.
type WrongError struct {
	JID         string
	Part        string // jid, jobtype, queue or args
	Description string // what is wrong with it
}

// Error names the job and the part.
func (e *WrongError) Error() string {
	return fmt.Sprintf("job %q: %s: %s", e.JID, e.Part, e.Description)
}

// parts are the fields of a job that matter here; nil if absent or of another type.
type parts struct {
	jid, jobtype, queue []byte
	args                []byte // as it stands there
	stamps              rawStamps
}

// Read reads the body that a fetch brought: any order of fields, white space, escapes,
// and fields of the server's own. It checks that jid, jobtype, queue and args are those
// of one job of this run. It never panics, keeps no memory of the body but in JID, and
// does not allocate unless there is an error or an escape.
//
// The error is a *BodyError, a *ForeignError or a *WrongError; with the last, Delivery
// holds Number and JID if they are known.
func (j *Jobs) Read(body []byte) (Delivery, error) {
	var p parts
	s := scanner{text: body}
	p.read(&s)
	if s.problem != "" {
		return Delivery{}, &BodyError{Offset: s.at, Description: s.problem}
	}
	a := j.arguments(p.args)
	k, ok := j.number(p.jid)
	switch {
	case !ok && a.isOfRun:
		return Delivery{Number: a.k, JID: p.jid}, &WrongError{string(p.jid), "jid",
			fmt.Sprintf("it has the args of job %d", a.k)}
	case !ok:
		return Delivery{}, &ForeignError{JID: string(p.jid)}
	}
	d := Delivery{Number: k, Intended: time.Duration(a.intended), Queue: j.QueueOf(k), JID: p.jid, stamps: p.stamps}
	return d, j.compare(&p, &a, &d)
}

// compare finds the part that is not as job d.Number was pushed.
func (j *Jobs) compare(p *parts, a *arguments, d *Delivery) error {
	k := d.Number
	wrongPart := func(part, message string) error { return &WrongError{string(p.jid), part, message} }
	switch jobtype := j.types[j.typeOf(k)]; {
	case string(p.queue) != j.queues[d.Queue]:
		return wrongPart("queue", fmt.Sprintf("came as %q, was pushed to %q", p.queue, j.AppendQueue(nil, k)))
	case string(p.jobtype) != jobtype:
		return wrongPart("jobtype", fmt.Sprintf("came as %q, was pushed as %q", p.jobtype, jobtype))
	case !a.isOfRun:
		return wrongPart("args", "the args are not from a job of this run")
	case a.k != k:
		return wrongPart("args", fmt.Sprintf("the args are from job %d, and this is job %d", a.k, k))
	case !j.isPadding(a.padding, k):
		return wrongPart("args", fmt.Sprintf("the padding of %d bytes differs from the %d bytes that were pushed",
			len(a.padding),
			j.PayloadOf(k)))
	case a.integer != integerOf(k) && j.hasInteger:
		return wrongPart("args", fmt.Sprintf("the integer %d came as %d", integerOf(k), a.integer))
	}
	return nil
}

// read collects the fields of the one object that the text must be.
func (p *parts) read(s *scanner) {
	s.need('{')
	for isFirst := true; s.hasMember(isFirst, '}'); isFirst = false {
		s.peek()
		key := s.str()
		s.need(':')
		s.peek()
		switch string(key) {
		case "jid":
			p.readText(s, &p.jid)
		case "jobtype":
			p.readText(s, &p.jobtype)
		case "queue":
			p.readText(s, &p.queue)
		case "args":
			args := s.value()
			if p.args != nil {
				s.fail("expected args once")
			}
			p.args = args
		case "created_at":
			p.stamps.created = s.value()
		case "enqueued_at":
			p.stamps.enqueued = s.value()
		case "failure":
			p.stamps.failure = s.value()
		default:
			s.skip(1)
		}
	}
	if s.peek(); s.at < len(s.text) {
		s.fail("expected nothing after the job")
	}
}

// readText reads a field that should be a string.
func (p *parts) readText(s *scanner, field *[]byte) {
	if s.peek() != '"' {
		s.skip(1)
		return
	}
	if *field != nil {
		s.fail("expected each field once")
		return
	}
	*field = s.str()
}

// Number returns the k of a jid, and whether the jid is one of this run.
func (j *Jobs) Number(jid string) (k int64, ok bool) { return j.number([]byte(jid)) }

// number returns the k of a jid, and whether the jid is one of this run, digit by digit.
func (j *Jobs) number(jid []byte) (k int64, ok bool) {
	digits := len(jid) - len(j.prefix)
	if digits < hexDigits || digits > 16 || string(jid[:len(j.prefix)]) != j.prefix {
		return 0, false
	}
	for _, c := range jid[len(j.prefix):] {
		value := hexValue(c)
		if value < 0 || (c >= 'A' && c <= 'F') {
			return 0, false
		}
		k = k<<4 | int64(value)
	}
	// The shortest way to write k is the only one.
	return k, k >= 0 && (digits == hexDigits || k>>(4*(digits-1)) != 0)
}

// arguments are the args of a job of this run.
type arguments struct {
	isOfRun               bool // they are there, and of this run
	producer, k, intended int64
	padding               []byte
	integer               int64 // beyond 2^53, if the workload has such
}

// arguments reads args, which are JSON already.
func (j *Jobs) arguments(args []byte) (a arguments) {
	s := scanner{text: args}
	s.need('[')
	s.peek()
	if string(s.str()) != j.run {
		return a
	}
	for _, field := range [...]*int64{&a.producer, &a.k, &a.intended} {
		s.need(',')
		*field = s.integer()
	}
	s.need(',')
	s.peek()
	a.padding = s.str()
	if j.hasInteger {
		s.need(',')
		a.integer = s.integer()
	}
	s.need(']')
	a.isOfRun = s.problem == ""
	return a
}
