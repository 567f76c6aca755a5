package reports

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"time"
)

// WriteJSON writes r as one indented JSON object and a final newline. The keys are those in the struct tags of
// Report, Target, Clause, Check, ClauseVerdict, Finding and Line, always in the same order, with these additions:
//
//	schema         "fwpcheck/1", always the first key
//	took_ms        of the report and of a check: a number of milliseconds, with fractions
//	at_ms          of a line of a conversation: milliseconds since the check began
//	started        RFC 3339, UTC
//	seed           a string of decimal digits
//	verdict        one of the words of Verdict.String; level: one of the values of Level
//
// Keys that would hold an empty text, list or false are left out, except "checks" and "clauses". Characters are not
// escaped for HTML. The first error of w is returned.
func WriteJSON(w io.Writer, r *Report) error {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(r); err != nil {
		return fmt.Errorf("encode report: %w", err)
	}
	if _, err := w.Write(out.Bytes()); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}

// ReadJSON reads what WriteJSON wrote. A report of another schema is an error; keys that are not known are passed
// over, because a later version may add some. Input after the object is left unread, or partly read into a buffer.
func ReadJSON(r io.Reader) (*Report, error) {
	var report Report
	if err := json.NewDecoder(r).Decode(&report); err != nil {
		return nil, fmt.Errorf("read report: %w", err)
	}
	if report.Schema != Schema {
		return nil, fmt.Errorf("read report: schema is %q, want %q", report.Schema, Schema)
	}
	return &report, nil
}

// millis is a duration as a JSON number of milliseconds. It is exact to the nanosecond for 104 days.
type millis time.Duration

// MarshalJSON implements json.Marshaler.
func (m millis) MarshalJSON() ([]byte, error) {
	return json.Marshal(float64(m) / float64(time.Millisecond))
}

// UnmarshalJSON implements json.Unmarshaler.
func (m *millis) UnmarshalJSON(text []byte) error {
	var number float64
	if err := json.Unmarshal(text, &number); err != nil {
		return err
	}
	*m = millis(math.Round(number * float64(time.Millisecond)))
	return nil
}

// The methods below put a duration, which the struct tags leave out, beside the other keys. Each wraps a type of
// its own without methods, or the encoder would call them for ever.

type (
	plainReport Report
	plainCheck  Check
	plainLine   Line
)

type wireReport struct {
	Schema string `json:"schema"`
	Took   millis `json:"took_ms"`
	*plainReport
}

type wireCheck struct {
	*plainCheck
	Took millis `json:"took_ms"`
}

type wireLine struct {
	At millis `json:"at_ms"`
	*plainLine
}

// MarshalJSON implements json.Marshaler; see WriteJSON for the format.
func (r Report) MarshalJSON() ([]byte, error) {
	r.Started = r.Started.UTC().Round(0)
	if r.Checks == nil {
		r.Checks = []Check{}
	}
	if r.Clauses == nil {
		r.Clauses = []Clause{}
	}
	return encode(wireReport{Schema: Schema, Took: millis(r.Took), plainReport: (*plainReport)(&r)})
}

// UnmarshalJSON implements json.Unmarshaler; see WriteJSON for the format. It takes any schema.
func (r *Report) UnmarshalJSON(text []byte) error {
	wire := wireReport{plainReport: (*plainReport)(r)}
	err := json.Unmarshal(text, &wire)
	r.Schema, r.Took = wire.Schema, time.Duration(wire.Took)
	return err
}

// MarshalJSON implements json.Marshaler; see WriteJSON for the format.
func (c Check) MarshalJSON() ([]byte, error) {
	return encode(wireCheck{plainCheck: (*plainCheck)(&c), Took: millis(c.Took)})
}

// UnmarshalJSON implements json.Unmarshaler; see WriteJSON for the format.
func (c *Check) UnmarshalJSON(text []byte) error {
	wire := wireCheck{plainCheck: (*plainCheck)(c)}
	err := json.Unmarshal(text, &wire)
	c.Took = time.Duration(wire.Took)
	return err
}

// MarshalJSON implements json.Marshaler; see WriteJSON for the format.
func (l Line) MarshalJSON() ([]byte, error) {
	return encode(wireLine{At: millis(l.At), plainLine: (*plainLine)(&l)})
}

// UnmarshalJSON implements json.Unmarshaler; see WriteJSON for the format.
func (l *Line) UnmarshalJSON(text []byte) error {
	wire := wireLine{plainLine: (*plainLine)(l)}
	err := json.Unmarshal(text, &wire)
	l.At = time.Duration(wire.At)
	return err
}

// encode is json.Marshal without the escapes for HTML: what a nested method has escaped stays escaped.
func encode(v any) ([]byte, error) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), nil
}
