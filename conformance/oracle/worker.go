package oracle

import (
	"fmt"
	"time"

	"github.com/fwpsuite/fwp/conformance/model"
	"github.com/fwpsuite/fwp/fwp"
)

// worker is what was said of a worker id.
type worker struct {
	said    string // hostname, pid and labels
	quiet   bool   // it may know that it should not fetch (AMB-32)
	flushed bool   // the server may have forgotten it
	mixed   bool   // it was taken with something else said of it (AMB-10)
	signal  string // what an operator wants of it
	told    bool   // it was told so
	knows   bool   // it has said that it knows
}

func said(f map[string]any) string { return fmt.Sprint(f["hostname"], f["pid"], f["labels"]) }

// hello rules a HELLO that is not malformed. (HELLO Command)
func (w *World) hello(c *Conn, k *call) {
	k.take(c, model.For(c.State, fwp.HELLO, w.greeting(k)))
	if w.Protected && c.Hi.Protected {
		w.password(c, k)
	}
}

func (w *World) greeting(k *call) model.Case {
	wid, worker := k.Fields["wid"].(string)
	known := w.workers[wid]
	switch {
	case known != nil && (known.mixed || known.said != said(k.Fields)):
		return model.ChangedWorker
	case k.Form != model.Okay:
		return model.Usual
	case !worker:
		return model.NoWorker
	case known != nil:
		return model.KnownWorker
	}
	return model.Usual
}

// identified takes in that a HELLO was accepted.
func (w *World) identified(c *Conn, k *call, now time.Time) {
	c.State, c.blame, c.Beat = fwp.Identified, "", now
	if hash, _ := k.Fields["pwdhash"].(string); hash != "" {
		w.hashes = append(w.hashes, hash)
	}
	if wid := w.introduced(k); wid != "" {
		c.WID = wid
	}
}

// introduced takes down what a HELLO said of a worker, and returns its id.
func (w *World) introduced(k *call) (wid string) {
	wid, _ = k.Fields["wid"].(string)
	switch known := w.workers[wid]; {
	case wid == "":
	case known == nil:
		w.workers[wid] = &worker{said: said(k.Fields)}
	default:
		known.mixed = known.mixed || known.said != said(k.Fields)
	}
	return wid
}

// beat says which case a BEAT is. (BEAT Command)
func (w *World) beat(c *Conn, k *call) model.Case {
	wid, _ := k.Fields["wid"].(string)
	is := w.workers[wid]
	switch {
	case c.WID == "" || wid == "": // FWP-BEAT-05 is silent about them
		return model.OtherWorker
	case is == nil:
		return model.UnknownWorker
	case wid != c.WID || k.Form != model.Okay || is.flushed:
		return model.OtherWorker
	case is.signal == "":
		return model.Usual
	case is.knows || k.Fields["current_state"] != nil:
		is.knows = true
		return model.OrderedAndSaid
	}
	k.Should = is.told // AMB-30
	return model.Ordered
}

// Signal takes down that an operator asks a worker to be quiet or to terminate.
func (w *World) Signal(wid, state string) {
	if is := w.workers[wid]; is != nil {
		is.signal, is.quiet, is.told = state, true, false
	}
}

// signalled keeps in mind which workers may be quiet.
func (w *World) signalled(k *call, a model.Answer) {
	wid, _ := k.Fields["wid"].(string)
	if is := w.workers[wid]; is != nil && (k.Fields["current_state"] != nil || a == model.Told) {
		is.quiet, is.told = true, is.told || a == model.Told
	}
}

// Quiet tells whether the worker of a connection may have been told to fetch no more.
func (w *World) Quiet(c *Conn) bool {
	is := w.workers[c.WID]
	return c.again || c.State > fwp.Identified || is != nil && is.quiet
}
