package plan

import (
	"strconv"
	"time"
)

// hexDigits is the least number of hexadecimal digits in a jid.
const hexDigits = 8

// AppendJID appends the jid of job k to dst: fwpbench-RUN- and k in hexadecimal, at
// least eight digits of it.
func (j *Jobs) AppendJID(dst []byte, k int64) []byte {
	return appendHex(append(dst, j.prefix...), k)
}

func appendHex(dst []byte, k int64) []byte {
	for width := int64(hexDigits - 1); width > 0 && k>>(4*width) == 0; width-- {
		dst = append(dst, '0')
	}
	return strconv.AppendInt(dst, k, 16)
}

// Push is a job of a run on its way to the server.
type Push struct {
	Jobs     *Jobs
	Number   int64
	Producer int
	Intended time.Duration // when it was due, since the engine's start
	Now      time.Time     // on the wall clock, for a job with a delay
}

// AppendBody appends the job to dst, as [Jobs.AppendBody] does.
func (p *Push) AppendBody(dst []byte) []byte {
	return p.Jobs.AppendBody(dst, p.Number, p.Producer, p.Intended, p.Now)
}

// AppendBody appends job k to dst, as JSON. Producer and intended (since the engine's
// start) travel in the job's args, after the run's name and k; the padding follows them.
// Only a scheduled job looks at now. It does not allocate if dst has the room. (Work units)
func (j *Jobs) AppendBody(dst []byte, k int64, producer int, intended time.Duration, now time.Time) []byte {
	f := &j.fragments
	dst = appendHex(append(dst, f.start...), k)
	dst = append(dst, f.types[j.typeOf(k)]...)
	dst = append(dst, f.queues[j.QueueOf(k)]...)
	if delay := j.Delay(k); delay > 0 {
		dst = append(dst, `,"at":"`...)
		dst = now.Add(delay).UTC().AppendFormat(dst, time.RFC3339Nano)
		dst = append(dst, '"')
	}
	dst = append(dst, f.args...)
	dst = append(strconv.AppendInt(dst, int64(producer), 10), ',')
	dst = append(strconv.AppendInt(dst, k, 10), ',')
	dst = append(strconv.AppendInt(dst, int64(intended), 10), `,"`...)
	for rest, piece := j.PayloadOf(k), j.paddingOf(k); rest > 0; piece = j.padding {
		piece = piece[:min(rest, len(piece))]
		dst = append(dst, piece...)
		rest -= len(piece)
	}
	dst = append(dst, '"')
	if j.hasInteger {
		dst = strconv.AppendInt(append(dst, ','), integerOf(k), 10)
	}
	return append(dst, "]}"...)
}

// integerOf returns an integer of job k that no 64-bit float holds: an odd one beyond 2^53.
func integerOf(k int64) int64 { return 1<<53 + 2*k + 1 }

// paddingOf is how the padding of job k starts; it goes on with the whole text, again
// and again.
func (j *Jobs) paddingOf(k int64) string {
	return j.padding[j.random(purposePadding, k)%paddingLength:]
}

// isPadding reports whether text is the padding of job k.
func (j *Jobs) isPadding(text []byte, k int64) bool {
	if len(text) != j.PayloadOf(k) {
		return false
	}
	for piece := j.paddingOf(k); len(text) > 0; piece = j.padding {
		piece = piece[:min(len(text), len(piece))]
		if string(text[:len(piece)]) != piece {
			return false
		}
		text = text[len(piece):]
	}
	return true
}
