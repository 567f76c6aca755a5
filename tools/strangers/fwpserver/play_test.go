package main

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// A script is a small table of steps, one in a line:
//
//	open a              connect, read HI and say nothing
//	produce a, work a W say HELLO as a producer, or as a consumer with this wid
//	meet a b            let consumers connect before they are needed
//	close a             drop the connection
//	hi a PATTERN        compare the hash of HI
//	login a             say HELLO with the right password
//	a> TEXT             send TEXT and CRLF (a client that is new becomes a consumer)
//	a>> "TEXT"          send exactly the bytes of this Go string
//	a< PATTERN          read one reply, or see "eof" or "none"; a<700ms with less patience
//	a push J FIELDS     PUSH the job J and read OK
//	a get QUEUES = P    FETCH and compare
//	a ack J, a fail J   report, and read OK
//	advance 60s         move the server's clock
//	pause 60ms          wait
//	waiting 2           go on when so many FETCHes wait
//	restart             stop and start the server
//	signal quiet        what a signal to the program does
//
// %J is the jid of J, and <+4s> or <+4s+02:00> a time after the start.
type script struct {
	number int
	wait   time.Duration // of a FETCH, if not the usual one
	steps  string
	run    func(*rig) error // for what no table can say
}

func jid(name string) string { return "job-" + name + "-0123456789" }

func (sc script) play(cfg config) error {
	cfg.wait = testWait
	if sc.wait != 0 {
		cfg.wait = sc.wait
	}
	r, err := newRig(cfg)
	if err != nil {
		return err
	}
	defer func() { _ = r.close() }()
	if sc.run != nil {
		return sc.run(r)
	}
	for i, step := range strings.Split(strings.TrimSpace(sc.steps), "\n") {
		step = strings.TrimSpace(step)
		if step == "" || step[0] == '#' {
			continue
		}
		if err := r.step(r.expand(step)); err != nil {
			return fmt.Errorf("step %d, %s: %w", i+1, shorten(step), err)
		}
	}
	return nil
}

var (
	jidMark  = regexp.MustCompile(`%(j\w+)`)
	timeMark = regexp.MustCompile(`<([+-]\d+s)([+-]\d\d:\d\d)?>`)
	wireStep = regexp.MustCompile(`^(\w+)(>>|>|<(?:\d+ms)?) (.*)$`)
)

func (r *rig) expand(step string) string {
	step = jidMark.ReplaceAllStringFunc(step, func(m string) string { return jid(m[1:]) })
	return timeMark.ReplaceAllStringFunc(step, func(m string) string {
		parts := timeMark.FindStringSubmatch(m)
		after, _ := time.ParseDuration(parts[1])
		at := r.born.Add(after).UTC()
		if parts[2] != "" {
			zone, _ := time.Parse("-07:00", parts[2])
			at = at.In(zone.Location())
		}
		return at.Format(time.RFC3339)
	})
}

func (r *rig) step(step string) error {
	if m := wireStep.FindStringSubmatch(step); m != nil {
		return r.wire(m[1], m[2], m[3])
	}
	words := strings.SplitN(step, " ", 3)
	rest := ""
	if len(words) > 2 {
		rest = words[2]
	}
	if len(words) < 2 {
		words = append(words, "")
	}
	switch words[0] {
	case "advance":
		d, err := time.ParseDuration(words[1])
		r.advance(d)
		return err
	case "pause":
		d, err := time.ParseDuration(words[1])
		time.Sleep(d)
		return err
	case "meet":
		for _, name := range strings.Fields(words[1] + " " + rest) {
			if _, err := r.get(name); err != nil {
				return err
			}
		}
		return nil
	case "waiting":
		return r.untilWaiting(words[1])
	case "restart":
		return r.restart()
	case "signal":
		r.server.tellWorkers(words[1])
		return nil
	}
	return r.connect(words[0], words[1], rest)
}

// connect runs the steps that begin a connection, and passes the others on.
func (r *rig) connect(verb, name, rest string) (err error) {
	switch verb {
	case "open":
		_, err = r.open(name)
	case "produce":
		_, err = r.greet(name, "")
	case "work":
		_, err = r.work(name, rest)
	case "close":
		err = r.clients[name].nc.Close()
		delete(r.clients, name)
	case "hi":
		c := r.clients[name]
		if !r.fits("+"+c.hi+"\r\n", rest) {
			return fmt.Errorf("want HI %s, got %q", rest, c.hi)
		}
	case "login":
		err = r.login(r.clients[name], "")
	default:
		return r.short(verb, name, rest)
	}
	return err
}

// wire runs the steps that are bytes.
func (r *rig) wire(name, sign, text string) error {
	c, err := r.get(name)
	if err != nil {
		return err
	}
	switch sign {
	case ">":
		return c.send(text + "\r\n")
	case ">>":
		raw, err := strconv.Unquote(text)
		if err != nil {
			return err
		}
		return c.send(raw)
	}
	within := patience
	if sign != "<" {
		if within, err = time.ParseDuration(sign[1:]); err != nil {
			return err
		}
	}
	return c.expect(r, text, within)
}

// short runs the steps that stand for one command and its usual reply.
func (r *rig) short(name, verb, rest string) error {
	c, err := r.get(name)
	if err != nil {
		return err
	}
	job, fields, _ := strings.Cut(rest, " ")
	text, want := "", "+OK"
	switch verb {
	case "push":
		text = "PUSH " + unit(job, fields)
	case "ack":
		text = fmt.Sprintf(`ACK {"jid":%q}`, jid(job))
	case "fail":
		text = fmt.Sprintf(`FAIL {"jid":%q,"errtype":"E","message":"oh","backtrace":`+
			`["line-1","line-2","line-3","line-4","line-5"]}`, jid(job))
	case "get":
		rest = " " + rest
		queues, pattern, ok := strings.Cut(rest, " = ")
		if !ok {
			return fmt.Errorf("step is not understood")
		}
		text, want = strings.TrimSuffix("FETCH"+queues, " "), pattern
	default:
		return fmt.Errorf("step is not understood")
	}
	if err := c.send(text + "\r\n"); err != nil {
		return err
	}
	return c.expect(r, want, patience)
}

// unit is a work unit with these fields beside the three that it needs.
func unit(name, fields string) string {
	text := fmt.Sprintf(`{"jid":%q,"jobtype":"t"`, jid(name))
	if !strings.Contains(fields, `"args":`) {
		text += `,"args":[1]`
	}
	if fields != "" {
		text += "," + fields
	}
	return text + "}"
}
