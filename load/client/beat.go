package client

import (
	"time"

	"github.com/fwpsuite/fwp/fwp"
	"github.com/fwpsuite/fwp/load/measure"
)

// The timetable of BEAT: what the protocol recommends, and what it advises not to go
// below. (Client Lifecycle)
const (
	beatEvery = 15 * time.Second
	beatApart = 5 * time.Second
)

// beatDue says whether it is time for a BEAT, and sees to it that the connection is
// woken for the next one.
func (d *duty) beatDue(now time.Duration) bool {
	if d.duties&beating == 0 {
		return false
	}
	w := d.worker
	if w.beat == 0 {
		w.beat = now + beatEvery
		if d.duties&observing != 0 {
			w.beat = now // it says at once that it is there
		}
	}
	d.due = w.beat
	return w.beat <= now
}

// sendBeat says that the worker lives. The times of the timetable that have been missed
// are left out.
func (d *duty) sendBeat(now time.Duration, out []byte) []byte {
	w := d.worker
	d.begin(now, measure.Beat, w.beat)
	d.saying = beating
	for w.beat < now+beatApart {
		w.beat += beatEvery
	}
	out = append(out, `BEAT {"wid":"`...)
	out = append(out, w.id...)
	switch w.state {
	case fwp.Quiet:
		out = append(out, `","current_state":"quiet`...)
	case fwp.Terminating:
		out = append(out, `","current_state":"terminate`...)
	}
	return append(out, "\"}\r\n"...)
}

// beaten takes the reply to BEAT: OK, or the state to enter. (BEAT Command)
func (d *duty) beaten(now time.Duration, r reply) outcome {
	if isOK(r) {
		if d.worker.state == fwp.Identified {
			d.worker.known = d.asked.sent
		}
		return outcome{op: measure.Beat}
	}
	ordered := fwp.Identified.Next(fwp.BEAT, r)
	if ordered == fwp.Identified {
		return judge(measure.Beat, r)
	}
	d.worker.order(now, ordered)
	return outcome{op: measure.Beat}
}
