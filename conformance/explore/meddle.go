package explore

import "bytes"

// meddles says whether bytes could do something to jobs that are not ours on a server
// that reads them leniently: a FETCH of a queue without the run's prefix, or of none,
// which means the queue default; or a FLUSH. What is made up by changing bytes is not
// always what its move meant.
func (p *play) meddles(all []byte) bool {
	for line := range bytes.FieldsFuncSeq(all, func(r rune) bool { return r == '\r' || r == '\n' }) {
		words := bytes.Fields(line)
		if len(words) == 0 {
			continue
		}
		verb := bytes.ToUpper(words[0])
		switch {
		case bytes.Contains(verb, []byte("FLUSH")) && !p.flush:
			return true
		case bytes.Contains(verb, []byte("FETCH")) && !p.alone && !p.own(words[1:]):
			return true
		}
	}
	return false
}

// own says whether words are queues of the run's own, at least one.
func (p *play) own(queues [][]byte) bool {
	for _, q := range queues {
		if !bytes.HasPrefix(q, []byte(p.prefix)) {
			return false
		}
	}
	return len(queues) > 0
}
