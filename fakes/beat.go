package fakes

import "github.com/fwpsuite/fwp/fwp"

// beat records a worker's state, and answers with the state that an operator wants. (BEAT)
func (c *conn) beat(e *Event) (fwp.Reply, error) {
	wid := e.Object.Text("wid")
	signal, known := c.s.workers.beat(wid, e.Object.Text("current_state"))
	if !known {
		return fwp.Reply{}, refuse(AboutWorker, "no HELLO had this wid")
	}
	e.State, e.Skip = signal.String(), false
	c.s.at(Notified, e)
	if e.State == "" || e.Skip {
		return okay(), nil
	}
	c.s.workers.notified(wid, e.State)
	o := &Object{}
	o.SetText("state", e.State)
	if c.s.cfg.StateAsSimple {
		return simple(string(o.Append(nil))), nil
	}
	return bulk(o.Append(nil)), nil
}

// checkBeat checks a BEAT; unknown fields are allowed. (BEAT)
func checkBeat(o *Object) *Refusal {
	if r := wantText(o, "wid"); r != nil {
		return r
	}
	if given(o, "current_state") != nil {
		if r := wantText(o, "current_state"); r != nil {
			return r
		}
	}
	return wantInteger(o, "rss_kb", false)
}
