package history

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/fwpsuite/fwp/internal/base/text"
)

// version is that of the file format.
const version = 1

// header is the first line of a saved history. Events follow, one a line, sorted by
// their calls; their number shows if a file was cut off between two lines.
type header struct {
	Version   int           `json:"fwp_history"`
	Events    int           `json:"events"`
	Drained   bool          `json:"drained,omitempty"`
	Strangers bool          `json:"strangers,omitempty"`
	Cut       time.Duration `json:"cut,omitempty"`
	Limits    Limits        `json:"limits"`
}

// escaping writes JSON that a terminal can show: names may be those of a server.
type escaping struct{ io.Writer }

func (e escaping) Write(b []byte) (n int, err error) {
	if _, err := e.Writer.Write(text.EscapeJSON(b)); err != nil {
		return 0, err
	}
	return len(b), nil
}

// Save writes the history as lines of JSON: times are in nanoseconds. Judged after
// [Load] it gives the same findings, with the same indices if the events were sorted.
func (h *History) Save(w io.Writer) error {
	events := h.sorted()
	out := bufio.NewWriterSize(w, 1<<16)
	encoder := json.NewEncoder(escaping{out})
	encoder.SetEscapeHTML(false)
	first := header{
		Version: version, Events: len(events),
		Drained: h.Drained, Strangers: h.Strangers, Cut: h.CutAt, Limits: h.Limits,
	}
	if err := encoder.Encode(first); err != nil {
		return fmt.Errorf("write the head of the history: %w", err)
	}
	for i := range events {
		e := &events[i]
		if !e.hasReply() {
			opened := e.withoutReply() // as it is evaluated
			e = &opened
		}
		if err := encoder.Encode(e); err != nil {
			return fmt.Errorf("write event %d of the history: %w", i, err)
		}
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("write the history: %w", err)
	}
	return nil
}

// DamageError reports where a saved history is damaged.
type DamageError struct {
	Line int // counted from 1
	Err  error
}

// Error returns the line and what is wrong with it.
func (e *DamageError) Error() string { return fmt.Sprintf("line %d of the history: %v", e.Line, e.Err) }

// Unwrap returns what is wrong with the line.
func (e *DamageError) Unwrap() error { return e.Err }

// Load reads a history that [History.Save] wrote. It never returns nil: with an error it
// returns the events before the error. If that is because the file
// is damaged or cut off the error is a *DamageError; the history is then cut at its last
// call and not drained, so that missing events make no findings.
func Load(r io.Reader) (*History, error) {
	h, err := newLoader(r).load()
	if err != nil {
		h.Drained = false
		if n := len(h.Events); n > 0 && h.CutAt == 0 {
			h.CutAt = max(h.Events[n-1].Call, 1)
		}
	}
	return h, err
}

// maxLine bounds a line, in bytes.
const maxLine = 1 << 20

// maxPrealloc is for how many events there is room from the beginning, if the header announces so many.
const maxPrealloc = 1 << 20

// maxWords is how many different words of events are kept once.
const maxWords = 1 << 14

// loader reads a history line by line, all with one decoder.
type loader struct {
	in      *bufio.Reader
	line    int
	rest    []byte // of the line, for the decoder
	decoder *json.Decoder
	words   map[string]string // of names and bodies, which many events share
}

func newLoader(r io.Reader) *loader {
	l := &loader{in: bufio.NewReaderSize(r, maxLine), words: map[string]string{}}
	l.decoder = json.NewDecoder(l)
	l.decoder.DisallowUnknownFields()
	return l
}

// Read gives the decoder what is left of the line, which ends there.
func (l *loader) Read(p []byte) (n int, err error) {
	if len(l.rest) == 0 {
		return 0, io.EOF
	}
	n = copy(p, l.rest)
	l.rest = l.rest[n:]
	return n, nil
}

// share replaces the words of an event by equal ones of earlier events.
func (l *loader) share(e *Event) {
	e.Worker, e.Queue, e.Body = l.intern(e.Worker), l.intern(e.Queue), l.intern(e.Body)
	for i, name := range e.Queues {
		e.Queues[i] = l.intern(name)
	}
}

func (l *loader) intern(word string) string {
	value, ok := l.words[word]
	switch {
	case ok:
		return value
	case len(l.words) < maxWords:
		l.words[word] = word
	}
	return word
}

func (l *loader) load() (*History, error) {
	h := new(History)
	var first header
	if err := l.next(&first); err != nil {
		return h, err
	}
	if first.Version != version {
		return h, l.damage(fmt.Errorf("it has version %d, expected %d", first.Version, version))
	}
	if t := first.Limits; isOutOfRange(t.MaxLead, t.MaxDelay, t.Patience, t.Backoff, first.Cut) || first.Events < 0 {
		return h, l.damage(errOutOfRange)
	}
	h.Drained, h.Strangers, h.CutAt, h.Limits = first.Drained, first.Strangers, first.Cut, first.Limits
	h.Events = make([]Event, 0, min(first.Events, maxPrealloc))
	for i := range first.Events {
		h.Events = append(h.Events, Event{})
		e := &h.Events[i]
		err := l.next(e)
		if damage := e.check(h.Events[:i]); err == nil && damage != nil {
			err = l.damage(damage)
		}
		if err != nil {
			h.Events = h.Events[:i]
			return h, err
		}
		l.share(e)
	}
	l.line++
	if _, err := l.in.Peek(1); err == nil {
		return h, l.damage(fmt.Errorf("there is data after the last of %d events", first.Events))
	} else if !errors.Is(err, io.EOF) {
		return h, fmt.Errorf("read the history: %w", err)
	}
	return h, nil
}

// next reads a line into v. A line counts only with its end, so that one that was cut
// off inside a number is an error.
func (l *loader) next(v any) error {
	l.line++
	line, err := l.in.ReadSlice('\n')
	switch {
	case errors.Is(err, bufio.ErrBufferFull):
		return l.damage(fmt.Errorf("a line of more than %d MiB", maxLine>>20))
	case errors.Is(err, io.EOF):
		return l.damage(errors.New("the file ends here and is not complete"))
	case err != nil:
		return fmt.Errorf("read the history: %w", err)
	}
	l.rest = bytes.TrimSpace(line)
	if err := l.decoder.Decode(v); err != nil {
		return l.damage(err)
	}
	if n, _ := l.decoder.Buffered().Read(make([]byte, 1)); n+len(l.rest) > 0 {
		return l.damage(errors.New("there is data after the object"))
	}
	return nil
}

func (l *loader) damage(err error) error { return &DamageError{Line: l.line, Err: err} }

// check returns what is wrong with an event that follows others.
func (e *Event) check(before []Event) error {
	switch n := len(before); {
	case e.Op == 0:
		return errors.New("it has no op")
	case isOutOfRange(e.At, e.Call) || e.hasReply() && isOutOfRange(e.Return):
		return errOutOfRange
	case n > 0 && e.Call < before[n-1].Call:
		return errors.New("its call is before that of the previous event")
	case e.Outcome != NoReply && e.Return < e.Call:
		return errors.New("its return is before its call")
	}
	return nil
}

var errOutOfRange = errors.New("it has a number that is out of range")

// isOutOfRange reports whether one of the times is negative or so long that sums of a few
// of them would not be times any more: 36 years.
func isOutOfRange(times ...time.Duration) bool {
	return slices.ContainsFunc(times, func(t time.Duration) bool { return t < 0 || t > 1<<60 })
}
