package suite

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fwpsuite/fwp/protocols/workq"
)

// A cursor goes through a list that no command changes. "A cursor offset and limit is used to iterate the queue": what
// stands at a place stays there, and stands nowhere else.

// cursor is what was shown of one list since it may have changed last.
type cursor struct {
	at    map[uint64]string // by the place in the whole list
	place map[string]uint64
}

// iterated judges a part of a list by the parts that were shown before.
func (l *workqLaw) iterated(k *call, all []record) ruling {
	if !l.still(k) {
		return ruling{}
	}
	list := k.Verb + " " + k.Name()
	c := l.cursors[list]
	if c.at == nil {
		c = cursor{at: map[uint64]string{}, place: map[string]uint64{}}
		l.cursors[list] = c
	}
	for i, r := range all {
		place := k.Offset + uint64(i) //nolint:gosec // not negative
		if before, is := c.place[r.name]; is && before != place {
			return miscounted(fmt.Sprintf("%s is listed at the places %d and %d", r.name, before, place))
		}
		if before, is := c.at[place]; is && before != r.name {
			return miscounted(fmt.Sprintf("%s was at the place of %s", before, r.name))
		}
		c.at[place], c.place[r.name] = r.name, place
	}
	return ruling{}
}

func miscounted(what string) ruling {
	return ruling{clause: "INSP-07", rule: "shown", expected: "+OK int(0..) ...", what: what}
}

// mayMove forgets the lists when a command is sent, or answered, that may change them. Replies on other connections may
// be as late as they like, so a list that was asked for before may be that from before the command.
func (l *workqLaw) mayMove(k *call) {
	if !strings.HasPrefix(k.Verb, workq.Inspect) {
		clear(l.cursors)
		l.moved = l.calls
	}
}

// ended takes a command that was answered from those that are under way.
func (l *workqLaw) ended(k *call) {
	l.under = slices.DeleteFunc(l.under, func(o *call) bool { return o == k })
	l.mayMove(k)
}

// still reports whether a list is the same as long as no client changes it: no other client uses it, and time changes
// none of its jobs.
func (l *workqLaw) still(k *call) bool {
	if k.number <= l.moved {
		return false
	}
	if slices.ContainsFunc(l.under, func(o *call) bool { return !strings.HasPrefix(o.Verb, workq.Inspect) }) {
		return false
	}
	ofAll := k.Verb == workq.InspectQueues
	for _, j := range l.jobs { // a queue may go with its last job
		changes := !j.all(func(c config) bool { return !c.timed && c.state != open })
		if changes && (ofAll || j.Name() == k.Name()) {
			return false
		}
	}
	return !l.unjudged && (ofAll && l.Alone || !ofAll && l.own(k.Names))
}
