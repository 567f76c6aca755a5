package fakes

import (
	"bytes"

	"github.com/fwpsuite/fwp/protocols/fwp"
)

// check reads the command's arguments into the event and returns why it is refused, nil
// if it is not. The arguments are read even if the state forbids the command. (Commands
// and Responses; Client Lifecycle)
func (c *conn) check(e *Event) *Refusal {
	verb := e.Command.Verb
	refusal := c.arguments(e)
	switch {
	case refusal != nil && refusal.About == AboutVerb:
		return refusal
	case verb == fwp.HELLO && c.Identified:
		return refuse(AboutState, "HELLO was sent already")
	case verb != fwp.HELLO && !c.Identified:
		return refuse(AboutState, "HELLO must come first")
	}
	return refusal
}

func (c *conn) arguments(e *Event) *Refusal {
	args := e.Command.Args
	switch e.Command.Verb {
	case fwp.FLUSH, fwp.INFO, fwp.END:
		if args != nil {
			return refuse(AboutArguments, "%s takes no arguments", e.Command.Verb)
		}
		return nil
	case fwp.FETCH:
		return c.fetchArguments(e)
	case fwp.HELLO, fwp.PUSH, fwp.ACK, fwp.FAIL, fwp.BEAT:
	default:
		if added, ok := c.s.verbs[e.Command.Verb]; ok {
			return added.check(c, e)
		}
		return refuse(AboutVerb, "unknown command %.40q", e.Command.Verb)
	}
	if len(args) == 0 || args[0] == ' ' || args[len(args)-1] == ' ' {
		return refuse(AboutArguments, "%s takes one JSON object after a single space", e.Command.Verb)
	}
	o, r := c.object(e.Command.Verb, args)
	if r != nil {
		return r
	}
	e.Object = o
	return c.fields(e.Command.Verb, o)
}

// object parses the argument. The object is valid until the next command, except that of
// a PUSH if there is a hook, which may keep it.
func (c *conn) object(verb string, args []byte) (*Object, *Refusal) {
	if verb == fwp.PUSH && c.s.cfg.Hook != nil {
		return parseObject(bytes.Clone(args))
	}
	if r := c.argument.parse(args); r != nil {
		return nil, r
	}
	return &c.argument, nil
}

func (c *conn) fields(verb string, o *Object) *Refusal {
	switch verb {
	case fwp.HELLO:
		return c.checkHello(o)
	case fwp.PUSH:
		return checkJob(o, &c.s.cfg)
	case fwp.ACK:
		return check(o, isAny, text, "jid")
	case fwp.FAIL:
		return checkFailure(o)
	}
	return checkBeat(o)
}

// run carries a command out. Its arguments were checked, but a hook may have allowed
// ones that are not valid. (Client Commands)
func (c *conn) run(e *Event) (fwp.Reply, error) {
	switch e.Command.Verb {
	case fwp.HELLO:
		c.identify(e.Object)
	case fwp.FLUSH:
		c.s.store.Clear(e)
	case fwp.INFO:
		return Bulk(c.s.info()), nil
	case fwp.END:
		e.Close = true
		if c.s.cfg.EndWithoutOK {
			return fwp.Reply{}, nil
		}
	case fwp.PUSH:
		return OK(), c.push(e)
	case fwp.FETCH:
		return c.fetch(e), nil
	case fwp.ACK:
		err := refusal(c.s.store.Finish(e, e.Object.Text("jid")))
		if c.s.cfg.Extension == Faktory {
			err = nil
		}
		return OK(), err
	case fwp.FAIL:
		return OK(), refusal(c.s.store.Fail(e, e.Object.Text("jid"), newFailure(e.Object).fate(&c.s.cfg)))
	case fwp.BEAT:
		return c.beat(e)
	default:
		if added, ok := c.s.verbs[e.Command.Verb]; ok {
			return added.run(c, e)
		}
	}
	return OK(), nil
}
