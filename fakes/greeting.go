package fakes

import (
	"cmp"
	"time"

	"github.com/fwpsuite/fwp/protocols/fwp"
)

// version is the version of the protocol. (Not Identified State)
const version = 2

// Hi returns the greeting with the salt and the iterations that the connection has now. (Not Identified State)
func (c *Conn) Hi() fwp.Reply {
	o := &Object{}
	o.Set("v", itoa(version))
	if c.Iterations > 0 {
		o.SetText("s", c.Salt)
		o.Set("i", itoa(int64(c.Iterations)))
	}
	return Simple(string(o.Append([]byte("HI "))))
}

// checkHello checks a HELLO by the field tables. (HELLO)
func (c *conn) checkHello(o *Object) *Refusal {
	isOldClient := c.s.cfg.Extension == Faktory && o.Get("v") == nil
	if n, ok := o.Int("v"); (!ok || n != version) && !isOldClient {
		return refuse("v", "v must be the integer %d", version)
	}
	return cmp.Or(check(o, isPresent, text, "pwdhash"), c.checkConsumer(o), c.checkPassword(o))
}

func (c *conn) checkPassword(o *Object) *Refusal {
	switch {
	case !c.s.cfg.isProtected():
		return nil
	case o.Get("pwdhash") == nil:
		return refuse("pwdhash", "a password is required")
	case !c.validHash(o.Text("pwdhash"), o.Get("v") == nil):
		return refuse("pwdhash", "the password is wrong")
	}
	return nil
}

// checkConsumer requires all four fields if there is a wid, because a wid makes a
// client a consumer; some producers send only a hostname. (Required Fields for
// Consumers)
func (c *conn) checkConsumer(o *Object) *Refusal {
	isRequired := isPresent
	if o.Get("wid") != nil && c.s.cfg.Extension != Faktory {
		isRequired = isAny
	}
	if r := cmp.Or(check(o, isRequired, text, "wid", "hostname"), check(o, isRequired, integer, "pid"),
		check(o, isRequired, texts, "labels")); r != nil {
		return r
	}
	if wid := o.Text("wid"); wid != "" && c.s.workers.conflict(wid, newIdentity(o)) {
		return refuse("wid", "the wid is in use with another hostname, pid or labels")
	}
	return nil
}

func newIdentity(o *Object) identity {
	pid, _ := o.Int("pid")
	labels, _ := asStrings(o.Get("labels"))
	return identity{hostname: o.Text("hostname"), pid: pid, labels: labels}
}

// identify makes the connection an identified one. (Identified State)
func (c *conn) identify(o *Object) {
	c.Identified = true
	if c.s.cfg.HelloTimeout > 0 {
		c.nc.SetReadDeadline(time.Time{})
	}
	if c.workerID != "" {
		c.s.workers.exit(c.workerID)
	}
	c.Worker = o.Text("wid")
	if c.workerID = c.Worker; c.workerID != "" {
		c.s.workers.enter(c.workerID, newIdentity(o))
	}
}
