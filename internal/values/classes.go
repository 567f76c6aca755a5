package values

import (
	"bytes"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// The parts of a value that [Classify] tells apart.
const (
	Whole  = ""       // the value itself
	Inside = " items" // what is in an array or an object, at any depth
	Names  = " names" // of the members of an object, at any depth
)

// mostInside is how many values inside a value are looked at: the others are counted, so that a large value costs no
// more than its bytes.
const mostInside = 64

// between is in the names of the classes of sizes between two borders.
const between = "below "

// mostDepth is how deep a value is read at most.
const mostDepth = 10_000

// Classify calls each with every class that a value is in, and with the part of it that the class is about: its kind,
// its size or its neighbourhood, how it is written, and the kinds of characters in it. The value is a JSON text; what
// is none, or deeper than 10,000, is in a class of its own. A class is the same for all values that a peer is likely to
// treat alike, whoever made them; how many there are is bounded. Times are classified by now.
func Classify(value []byte, now time.Time, each func(part, class string)) {
	r := reader{rest: bytes.TrimSpace(value), now: now, each: each, left: mostInside}
	if !r.value(Whole, 0) || len(bytes.TrimSpace(r.rest)) > 0 {
		each(Whole, "not JSON")
	}
}

// ClassesOf returns the classes that the values of buckets are in, by part, without those between two borders, which
// come by chance.
func ClassesOf(all []Bucket, now time.Time) map[string][]string {
	classes, r := map[string][]string{}, rand.New(rand.NewPCG(0, 0))
	for _, b := range all {
		Classify([]byte(b.Make(r)), now, func(part, class string) {
			if !strings.Contains(class, between) && !slices.Contains(classes[part], class) {
				classes[part] = append(classes[part], class)
			}
		})
	}
	return classes
}

// reader reads a JSON text from its begin.
type reader struct {
	rest    []byte
	now     time.Time
	each    func(part, class string)
	left    int // values inside that are still classified
	deepest int
}

// unseen reports whether a part is only passed over.
func (r *reader) unseen(part string) bool { return part != Whole && r.left <= 0 }

// tell passes a class on.
func (r *reader) tell(part, class string) {
	if !r.unseen(part) {
		r.each(part, class)
	}
}

// trim removes white space from the begin.
func trim(b []byte) []byte {
	for len(b) > 0 && (b[0] == ' ' || b[0] == '\t' || b[0] == '\r' || b[0] == '\n') {
		b = b[1:]
	}
	return b
}

// value reads a value, and reports whether there was one.
func (r *reader) value(part string, depth int) bool {
	if r.deepest = max(r.deepest, depth); part != Whole {
		r.left--
	}
	if len(r.rest) == 0 || depth > mostDepth {
		return false
	}
	switch r.rest[0] {
	case '"':
		return r.text(part)
	case '[', '{':
		return r.items(part, depth)
	}
	end := 0
	for end < len(r.rest) && r.rest[end] > ' ' && r.rest[end] != ',' && r.rest[end] != ']' && r.rest[end] != '}' {
		end++
	}
	token := r.rest[:end]
	r.rest = r.rest[end:]
	return end > 0 && (r.unseen(part) || r.scalar(part, string(token)))
}

// items reads an array or an object.
func (r *reader) items(part string, depth int) bool {
	kind, closing, n := "array", byte(']'), 0
	if r.rest[0] == '{' {
		kind, closing = "object", '}'
	}
	if r.rest = trim(r.rest[1:]); len(r.rest) > 0 && r.rest[0] == closing {
		r.rest, closing = r.rest[1:], 0
	}
	for ; closing != 0; n++ {
		if closing == '}' && !r.name() || !r.value(Inside, depth+1) {
			return false
		}
		r.rest = trim(r.rest)
		if len(r.rest) == 0 || r.rest[0] != ',' && r.rest[0] != closing {
			return false
		}
		if r.rest[0] == closing {
			closing = 0
		}
		r.rest = trim(r.rest[1:])
	}
	if r.tell(part, kind); part == Whole {
		r.tell(part, wording().counts.of(uint64(n)))
		r.tell(part, wording().depths.of(uint64(r.deepest)))
	}
	return true
}

// name reads the name of a member and its colon.
func (r *reader) name() bool {
	if len(r.rest) == 0 || r.rest[0] != '"' || !r.text(Names) {
		return false
	}
	if r.rest = trim(r.rest); len(r.rest) == 0 || r.rest[0] != ':' {
		return false
	}
	r.rest = trim(r.rest[1:])
	return true
}

// scalar classifies what is no text, and reports whether it is something.
func (r *reader) scalar(part, token string) bool {
	if token == "null" || token == "true" || token == "false" {
		r.tell(part, token)
		return true
	}
	if _, err := strconv.ParseFloat(token, 64); strings.IndexByte("-0123456789", token[0]) < 0 ||
		err != nil && !strings.HasSuffix(err.Error(), strconv.ErrRange.Error()) {
		return false
	}
	digits, negative := strings.CutPrefix(token, "-")
	n, err := strconv.ParseUint(digits, 10, 64)
	switch {
	case strings.ContainsAny(token, "eE"):
		r.tell(part, "number with an exponent")
	case strings.Contains(token, "."):
		r.tell(part, "number with a fraction")
	case negative && n == 0 && err == nil:
		r.tell(part, "-0")
	case err != nil:
		r.tell(part, "integer beyond 2^64")
	case negative:
		r.tell(part, wording().negatives.of(n))
	default:
		r.tell(part, wording().integers.of(n))
	}
	return true
}

// sizes has the names of classes of sizes: the smallest, those around each power of two and ten, and those in between.
type sizes struct {
	small         [4]string
	twos, between [65]string
	tens          [20]string
}

func newSizes(before, behind string) *sizes {
	s := &sizes{}
	for n := range s.small {
		s.small[n] = before + strconv.Itoa(n) + behind
	}
	for n := range s.twos {
		s.twos[n] = before + "about 2^" + strconv.Itoa(n) + behind
		s.between[n] = before + between + "2^" + strconv.Itoa(n) + behind
	}
	for n := range s.tens {
		s.tens[n] = before + "about 10^" + strconv.Itoa(n) + behind
	}
	return s
}

// words has the names of all classes that are numbered.
type words struct {
	integers, negatives, lengths, counts, depths *sizes
	fractions, months, hours                     []string
}

var wording = sync.OnceValue(func() words {
	return words{
		integers: newSizes("", ""), negatives: newSizes("-(", ")"), lengths: newSizes("", " bytes"),
		counts: newSizes("", " elements"), depths: newSizes("depth ", ""),
		fractions: named(11, "%d digits of a second", 0), months: named(12, "month %d", 1), hours: named(24, "hour %d", 0),
	}
})

func named(n int, format string, from int) []string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf(format, i+from)
	}
	return all
}

// Size returns the class of a number of things, which is the one that [Classify] gives the number.
func Size(n int) string { return wording().integers.of(uint64(max(0, n))) }

// of returns the class of n.
func (s *sizes) of(n uint64) string {
	if n < uint64(len(s.small)) {
		return s.small[n]
	}
	if low := bits.Len64(n) - 1; n-1<<low <= 1 {
		return s.twos[low]
	}
	if high := bits.Len64(n); n == 1<<high-1 {
		return s.twos[high]
	}
	for power, digits := uint64(10), 1; digits < len(s.tens); power, digits = power*10, digits+1 {
		if n+1 >= power && n <= power+1 {
			return s.tens[digits]
		}
	}
	return s.between[bits.Len64(n)]
}

// Members calls each with the members of an object in their order, the names as they are written, and reports whether
// it is one.
func Members(object []byte, each func(name string, value []byte)) bool {
	r := reader{rest: bytes.TrimSpace(object)}
	if len(r.rest) < 2 || r.rest[0] != '{' {
		return false
	}
	r.rest = trim(r.rest[1:])
	for len(r.rest) > 0 && r.rest[0] != '}' {
		name := r.rest
		if !r.name() {
			return false
		}
		name = name[1:bytes.LastIndexByte(name[:len(name)-len(r.rest)], '"')]
		value := r.rest
		if !r.value(Inside, 1) {
			return false
		}
		each(string(name), value[:len(value)-len(r.rest)])
		if r.rest = trim(r.rest); len(r.rest) > 0 && r.rest[0] == ',' {
			r.rest = trim(r.rest[1:])
		}
	}
	return len(r.rest) == 1
}
