package workqsubject

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fwpsuite/fwp/workq"
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
			return miscounted(fmt.Sprintf("%s stands at the places %d and %d", r.name, before, place))
		}
		if before, is := c.at[place]; is && before != r.name {
			return miscounted(fmt.Sprintf("%s stood where %s stands", before, r.name))
		}
		c.at[place], c.place[r.name] = r.name, place
	}
	return ruling{}
}

func miscounted(what string) ruling {
	return ruling{clause: "INSP-07", rule: "shown", expected: "+OK int(0..) ...", what: what}
}

// still reports whether a list is the same as long as no client changes it: no other client uses it, and time changes
// none of its jobs.
func (l *workqLaw) still(k *call) bool {
	if slices.ContainsFunc(l.under, func(o *call) bool { return !strings.HasPrefix(o.Verb, workq.Inspect) }) {
		clear(l.cursors)
		return false
	}
	if k.Verb == workq.InspectQueues {
		return l.Alone
	}
	for _, j := range l.jobs {
		if j.Name() == k.Name() && !j.all(func(c config) bool { return !c.timed && c.state != open }) {
			return false
		}
	}
	return l.own(k.Names) && !l.unjudged
}
