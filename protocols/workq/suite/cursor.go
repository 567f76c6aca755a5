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
	names  map[uint64]string // by the place in the whole list
	places map[string]uint64
}

// judgeCursor judges a part of a list by the parts that were shown before.
func (l *workqLaw) judgeCursor(k *call, all []record) ruling {
	if !l.isStatic(k) {
		return ruling{}
	}
	list := k.Verb + " " + k.Name()
	c := l.cursors[list]
	if c.names == nil {
		c = cursor{names: map[uint64]string{}, places: map[string]uint64{}}
		l.cursors[list] = c
	}
	for i, r := range all {
		place := k.Offset + uint64(i) //nolint:gosec // not negative
		if prev, ok := c.places[r.name]; ok && prev != place {
			return cursorRuling(fmt.Sprintf("%s is listed at the places %d and %d", r.name, prev, place))
		}
		if prev, ok := c.names[place]; ok && prev != r.name {
			return cursorRuling(fmt.Sprintf("%s was at the place of %s", prev, r.name))
		}
		c.names[place], c.places[r.name] = r.name, place
	}
	return ruling{}
}

func cursorRuling(detail string) ruling {
	return ruling{clause: "INSP-07", rule: "shown", expected: "+OK int(0..) ...", detail: detail}
}

// clearCursors forgets the lists when a command is sent, or answered, that may change them. Replies on other
// connections may be as late as they like, so a list that was asked for before may be that from before the command.
func (l *workqLaw) clearCursors(k *call) {
	if !strings.HasPrefix(k.Verb, workq.Inspect) {
		clear(l.cursors)
		l.lastMove = l.callCount
	}
}

// removeCall takes a command that was answered from those that are under way.
func (l *workqLaw) removeCall(k *call) {
	l.pendingCalls = slices.DeleteFunc(l.pendingCalls, func(o *call) bool { return o == k })
	l.clearCursors(k)
}

// isStatic reports whether a list is the same as long as no client changes it: no other client uses it, and time
// changes none of its jobs.
func (l *workqLaw) isStatic(k *call) bool {
	if k.number <= l.lastMove {
		return false
	}
	if slices.ContainsFunc(l.pendingCalls, func(o *call) bool { return !strings.HasPrefix(o.Verb, workq.Inspect) }) {
		return false
	}
	isAll := k.Verb == workq.InspectQueues
	for _, j := range l.jobs { // a queue may go with its last job
		isChanging := !j.isAlways(func(c possibleState) bool { return !c.isTimed && c.state != unknown })
		if isChanging && (isAll || j.Name() == k.Name()) {
			return false
		}
	}
	return !l.isUnjudged && (isAll && l.Alone || !isAll && l.ownsNames(k.Names))
}
