package rule

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Do returns an act without a value. at are the points at which it has an effect, with spaces in between; none: all.
func Do[E any](name, at, text string, do func(*E)) Act[E] {
	return Act[E]{Name: name, Text: text, At: strings.Fields(at),
		Make: func([]string) (func(*E), error) { return do, nil }}
}

// Value returns an act with one value, whose name in documents is arg and which read reads.
func Value[E, V any](name, arg, at, text string, read func(string) (V, error), do func(*E, V)) Act[E] {
	return Act[E]{Name: name, Text: text, Args: []string{arg}, At: strings.Fields(at),
		Make: func(args []string) (func(*E), error) {
			v, err := read(args[0])
			return func(e *E) { do(e, v) }, err
		}}
}

// Values returns an act with two values, which are read in different ways.
func Values[E, V, W any](name, args, at, text string, first func(string) (V, error), second func(string) (W, error),
	do func(*E, V, W),
) Act[E] {
	return Act[E]{Name: name, Text: text, Args: strings.Fields(args), At: strings.Fields(at),
		Make: func(args []string) (func(*E), error) {
			v, err := first(args[0])
			if err != nil {
				return nil, err
			}
			w, err := second(args[1])
			return func(e *E) { do(e, v, w) }, err
		}}
}

// WriteActs returns the acts on bytes that are about to be sent at a point, in pieces of chunk with pauses between
// them.
func WriteActs[E any](at string, content func(*E) *[]byte, chunk func(*E) *int,
	pause func(*E) *time.Duration) []Act[E] {
	change := func(to func([]byte) []byte) func(*E) {
		return func(e *E) { *content(e) = to(*content(e)) }
	}
	return []Act[E]{
		Value("write", "BYTES", at, `these bytes are sent; they may have \r, \n and \xFF, as in Go`, Bytes,
			func(e *E, b []byte) { *content(e) = b }),
		Do("twice", at, "the bytes are sent twice", change(func(b []byte) []byte { return slices.Concat(b, b) })),
		Value("cut", "N", at, "only the first N bytes are sent", Number, func(e *E, n int) {
			change(func(b []byte) []byte { return b[:min(n, len(b))] })(e)
		}),
		Values("replace", "OLD NEW", at, "a text in the bytes is replaced", Bytes, Bytes, func(e *E, from, to []byte) {
			change(func(b []byte) []byte { return bytes.ReplaceAll(b, from, to) })(e)
		}),
		Value("pieces", "N", at, "the bytes are sent in pieces of N", Number, func(e *E, n int) { *chunk(e) = n }),
		Value("pause", "DURATION", at, "a pause between two pieces", Duration,
			func(e *E, d time.Duration) { *pause(e) = d }),
	}
}

// Text reads any text.
func Text(s string) (string, error) { return s, nil }

// longest is the longest pause: a fake does not wait for a day by mistake.
const longest = 24 * time.Hour

// Duration reads one as Go writes it, of 24 hours at most.
func Duration(s string) (time.Duration, error) {
	d, err := time.ParseDuration(s)
	if err != nil || d < 0 || d > longest {
		return 0, fmt.Errorf("expected a duration of at most 24h, such as 5s or 300ms, got %q", s)
	}
	return d, nil
}

// Number reads one from 1 on.
func Number(s string) (int, error) {
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 {
		return 0, fmt.Errorf("expected a number from 1 on, got %q", s)
	}
	return n, nil
}

// Bytes reads a text with the escapes of Go.
func Bytes(s string) ([]byte, error) {
	b, err := strconv.Unquote(`"` + strings.ReplaceAll(s, `"`, `\"`) + `"`)
	if err != nil {
		return nil, fmt.Errorf("%q has an escape that Go does not have; it has \\r, \\n, \\t, \\\\ and \\xFF", s)
	}
	return []byte(b), nil
}
