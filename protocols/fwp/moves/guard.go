package moves

import (
	"bytes"
	"slices"
	"unicode"

	"github.com/fwpsuite/fwp/protocols/fwp"
)

// Every byte is checked before it is sent. Bytes that were changed may mean something
// else than their move did, and a server may read them more leniently than it should:
// verbs in small letters or with other bytes between their letters, lines that end with
// CR or LF alone, or with the segment that they came in.

// Escapes reports whether segments could touch jobs of other clients, on a server that
// reads them leniently, without the permission for that.
func (l *fwpLaw) Escapes(segments ...[]byte) bool {
	return !l.Flush && l.removes(bytes.Join(segments, nil)) || !l.Alone && l.touchesForeign(segments...)
}

// isHarmless reports whether made-up bytes may be sent at all, whatever is permitted
// otherwise: what they do to queues of others could not be undone.
func (g *maker) isHarmless(texts []string) bool {
	segments := make([][]byte, len(texts))
	for i, text := range texts {
		segments[i] = []byte(g.Fill(text))
	}
	all := bytes.Join(segments, nil)
	unfetchable := func(j fuzzedJob) bool { return j.queue != "" && !fetchableName.MatchString(j.queue) }
	return !g.law.removes(all) && !g.law.touchesForeign(segments...) && !slices.ContainsFunc(jobsIn(all), unfetchable)
}

// removes reports whether bytes could remove jobs of others from the server: a FLUSH, or a MUTATE.
func (l *fwpLaw) removes(all []byte) bool {
	if afterVerb(all, fwp.FLUSH) > 0 {
		return true
	}
	for line := range bytes.Lines(all) {
		if rest := afterVerb(line, "MUTATE"); l.world.HasExtensionVerb != nil && rest > 0 && l.hasForeignFilter(line[rest:]) {
			return true
		}
	}
	return false
}

// touchesForeign reports whether a FETCH or a PUSH could reach a queue without the run's
// prefix. Any segments in a row may be what a server takes for its input.
func (l *fwpLaw) touchesForeign(segments ...[]byte) bool {
	for from := range segments {
		for to := from + 1; to <= len(segments); to++ {
			if len(segments) > 8 && to-from > 1 && to-from < len(segments) { // byte by byte
				continue
			}
			if l.reaches(bytes.Join(segments[from:to], nil)) {
				return true
			}
		}
	}
	return false
}

// reaches reports the same of one input. The argument of a PUSH may go on behind the end of its
// line.
func (l *fwpLaw) reaches(all []byte) bool {
	for at := 0; at < len(all); {
		line := all[at:]
		if end := bytes.IndexAny(line, "\r\n"); end >= 0 {
			line = line[:end]
		}
		head := line
		if brace := bytes.IndexAny(line, "{["); brace >= 0 && len(line) < cutByServers {
			head = line[:brace]
		}
		if rest := afterVerb(head, fwp.FETCH); rest > 0 && !l.ownsQueues(bytes.Fields(line[rest:])) {
			return true
		}
		if rest := afterVerb(head, fwp.PUSH); rest > 0 && (l.isForeignJob(all[at+rest:]) || l.hasForeignJob(line[rest:])) {
			return true
		}
		if rest := afterVerb(head, "QUEUE"); l.world.HasExtensionVerb != nil && rest > 0 && l.hasForeignQueue(line[rest:]) {
			return true
		}
		at += len(line) + 1
	}
	return false
}

// cutByServers is from which length on servers may cut a line, and take the rest for
// another one.
const cutByServers = 4 << 10

// afterVerb returns where the letters of a verb end, whatever is between them; 0 if they
// are not there.
func afterVerb(text []byte, verb string) int {
	at := 0
	for i, b := range text {
		switch b &^= 0x20; {
		case b < 'A' || b > 'Z':
			continue
		case b == verb[at]:
			at++
		default:
			at = b2i(b == verb[0])
		}
		if at == len(verb) {
			return i + 1
		}
	}
	return 0
}

// ownsQueues reports whether words are queues of the run's own, at least one.
func (l *fwpLaw) ownsQueues(queues [][]byte) bool {
	for _, q := range queues {
		if !bytes.HasPrefix(q, []byte(l.NamePrefix)) || bytes.ContainsFunc(q, unicode.IsControl) {
			return false
		}
	}
	return len(queues) > 0
}
