package explore

import (
	"bytes"
	"slices"
	"unicode"

	"github.com/fwpsuite/fwp/fwp"
)

// The gate that every byte goes through. What is made up by changing bytes is not always
// what its move meant, and a server may read it more leniently than it should: verbs in
// small letters or with bytes in them that are no letters, lines that end with CR or LF
// alone, or with the segment that they came in.

// meddles says whether segments could do something to jobs that are not ours, on a
// server that reads them leniently, without the permission for that.
func (p *play) meddles(segments ...[]byte) bool {
	return !p.flush && flushes(bytes.Join(segments, nil)) || !p.alone && p.strays(segments...)
}

// harmless tells whether bytes that nobody has looked at may be sent at all, whatever is
// permitted otherwise: what they do to queues that are not theirs could not be undone.
func (p *play) harmless(texts []string) bool {
	segments := make([][]byte, len(texts))
	for i, text := range texts {
		segments[i] = []byte(p.fill(text, fwp.Hi{}))
	}
	all := bytes.Join(segments, nil)
	unfetchable := func(j fuzzedJob) bool { return j.queue != "" && !fetchable.MatchString(j.queue) }
	return !flushes(all) && !p.strays(segments...) && !slices.ContainsFunc(jobsIn(all), unfetchable)
}

// flushes tells whether the letters of FLUSH follow each other, whatever is between them.
func flushes(all []byte) bool { return afterVerb(all, fwp.FLUSH) > 0 }

// strays tells whether a FETCH or a PUSH could reach a queue without the run's prefix.
// Any segments in a row may be what a server takes for its input.
func (p *play) strays(segments ...[]byte) bool {
	for from := range segments {
		for to := from + 1; to <= len(segments); to++ {
			if len(segments) > 8 && to-from > 1 && to-from < len(segments) { // byte by byte
				continue
			}
			if p.straying(bytes.Join(segments[from:to], nil)) {
				return true
			}
		}
	}
	return false
}

// straying tells it of some input. The argument of a PUSH may go on behind the end of its
// line.
func (p *play) straying(all []byte) bool {
	for at := 0; at < len(all); {
		line := all[at:]
		if end := bytes.IndexAny(line, "\r\n"); end >= 0 {
			line = line[:end]
		}
		head := line
		if brace := bytes.IndexAny(line, "{["); brace >= 0 && len(line) < cutByServers {
			head = line[:brace]
		}
		if rest := afterVerb(head, fwp.FETCH); rest > 0 && !p.own(bytes.Fields(line[rest:])) {
			return true
		}
		if rest := afterVerb(head, fwp.PUSH); rest > 0 && p.misplaces(all[at+rest:]) {
			return true
		}
		at += len(line) + 1
	}
	return false
}

// cutByServers is from which length on servers may cut a line, and take the rest for
// another one.
const cutByServers = 4 << 10

// afterVerb finds where the letters of a verb end, whatever is between them; 0 if they
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

// own says whether words are queues of the run's own, at least one.
func (p *play) own(queues [][]byte) bool {
	for _, q := range queues {
		if !bytes.HasPrefix(q, []byte(p.prefix)) || bytes.ContainsFunc(q, unicode.IsControl) {
			return false
		}
	}
	return len(queues) > 0
}
