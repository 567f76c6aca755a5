package known

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/fwpsuite/fwp/internal/base/text"
)

// MaxBytes is how long a file may be.
const MaxBytes = 1 << 20

const (
	playLimit  = 1000 // of a flaky check
	errorLimit = 20   // that are reported for one file
)

// Parse reads a file. The error joins a [ParseError] for each line that is wrong, 20 at most.
func Parse(name string, data []byte) (*File, error) {
	f := &File{Name: name}
	if len(data) > 0 {
		f.text = strings.Split(string(bytes.TrimSuffix(data, []byte("\n"))), "\n")
	}
	var errs []error
	topics := map[string]int{}
	for i, line := range f.text {
		l, ok, err := parseLine(strings.TrimSuffix(line, "\r"))
		switch {
		case err != nil:
			err.File, err.Line = name, i+1
			errs = append(errs, err)
		case ok:
			l.Number = i + 1
			if first := topics[l.topic()]; first != 0 {
				errs = append(errs, &ParseError{name, l.Number, 1, fmt.Sprintf("the same as line %d", first)})
			} else {
				topics[l.topic()] = l.Number
			}
			f.Lines = append(f.Lines, l)
		}
		if len(errs) == errorLimit {
			break
		}
	}
	return f, errors.Join(errs...)
}

// topic is what two lines about the same have in common.
func (l *Line) topic() string {
	return strings.Join([]string{l.Check, l.Clause, string(l.Kind), l.Because, l.Server.text}, "\x00")
}

// word is a word of a line: without its quotes, if it had some.
type word struct {
	text string
	col  int // counted from 1
}

// errorf returns the error for a word.
func (w word) errorf(format string, args ...any) *ParseError {
	return &ParseError{Col: w.col, Message: fmt.Sprintf(format, args...)}
}

// parseLine reads one line; ok is false if it is empty, a comment or wrong.
func parseLine(s string) (l Line, ok bool, parseErr *ParseError) {
	words, parseErr := split(s)
	if parseErr != nil || len(words) == 0 {
		return l, false, parseErr
	}
	if len(words) < 3 {
		at := words[len(words)-1]
		return l, false, at.errorf("write CHECK CLAUSE KIND and attributes: push/accepted FWP-PUSH-01 fails")
	}
	l = Line{Check: words[0].text, Clause: words[1].text, Kind: Kind(words[2].text), col: words[0].col,
		clauseCol: words[1].col}
	for _, w := range words[:2] {
		if _, err := path.Match(w.text, ""); err != nil || w.text == "" {
			return l, false, w.errorf("%q is not a valid pattern", w.text)
		}
	}
	if !slices.Contains(Kinds(), string(l.Kind)) {
		return l, false, words[2].errorf("%q is not one of %s", l.Kind, strings.Join(Kinds(), ", "))
	}
	keys := map[string]bool{}
	for _, w := range words[3:] {
		key, err := l.attribute(w)
		if err == nil && keys[key] {
			err = w.errorf("%s is given twice", key)
		}
		if err != nil {
			return l, false, err
		}
		keys[key] = true
	}
	return l, true, l.checkKeys(words[2], keys)
}

// checkKeys checks what the attributes of a line say together.
func (l *Line) checkKeys(kind word, keys map[string]bool) *ParseError {
	switch {
	case keys["rate"] != keys["of"]:
		return kind.errorf("rate<= and of= belong together: rate<=0.2 of=20 is a finding in at most 4 of 20 plays")
	case keys["rate"] && l.Kind != Flaky:
		return kind.errorf("rate<= and of= work only with flaky, not with %s", l.Kind)
	case l.Kind == Inconclusive && l.Because == "":
		return kind.errorf(`inconclusive needs because="...", because many reasons do not come from the server`)
	}
	return nil
}

// attributes holds what reads the value of each attribute.
var attributes = map[string]func(l *Line, value word) *ParseError{
	"because": func(l *Line, v word) *ParseError { l.Because = v.text; return nil },
	"server": func(l *Line, v word) *ParseError {
		c, err := ParseConstraint(v.text)
		if l.Server = c; err != nil {
			return v.errorf("%v", err)
		}
		return nil
	},
	"see": func(l *Line, v word) *ParseError {
		if at, err := url.Parse(v.text); err != nil || at.Scheme == "" {
			return v.errorf("%q is not a URL", v.text)
		}
		l.See = v.text
		return nil
	},
	"until": func(l *Line, v word) *ParseError {
		day, err := time.Parse(time.DateOnly, v.text)
		if l.Until = day; err != nil {
			return v.errorf("%q is not a date such as 2027-03-01", v.text)
		}
		return nil
	},
	"rate": func(l *Line, v word) *ParseError {
		rate, err := strconv.ParseFloat(v.text, 64)
		if l.Rate = rate; err != nil || !(rate > 0 && rate <= 1) {
			return v.errorf("%q is not a valid rate: give a number above 0, at most 1", v.text)
		}
		return nil
	},
	"of": func(l *Line, v word) *ParseError {
		n, err := strconv.Atoi(v.text)
		if l.RatePlays = n; err != nil || n < 1 || n > playLimit {
			return v.errorf("%q is not a whole number from 1 to %d", v.text, playLimit)
		}
		return nil
	},
}

// attribute reads one attribute, and returns its key.
func (l *Line) attribute(w word) (key string, parseErr *ParseError) {
	key, value, hasSign := strings.Cut(w.text, "=")
	sign := "="
	if name, less := strings.CutSuffix(key, "<"); less {
		key, sign = name, "<="
	}
	read, isKnown := attributes[key]
	switch {
	case !hasSign || !isKnown:
		names := []string{"because", "server", "see", "until", "rate", "of"}
		help := cmp.Or(text.DidYouMean(text.Nearest(key, names, 2)),
			`the attributes are because="...", server="...", see=URL, until=DATE, rate<=0.2 and of=20`)
		return key, w.errorf("unknown attribute %q; %s", w.text, help)
	case (sign == "<=") != (key == "rate"):
		return key, w.errorf("write rate<=0.2; all other attributes have =")
	case value == "":
		return key, w.errorf("%s has no value", key)
	}
	return key, read(l, word{value, w.col + utf8.RuneCountInString(key+sign)})
}

// The parts of a line: a word, which may have parts in quotes, and a part in quotes up to an escape that is none.
var (
	wordLike   = regexp.MustCompile(`^(?:[^ \t"]|"(?:[^"\\]|\\["\\])*")+`)
	quotedPart = regexp.MustCompile(`"((?:[^"\\]|\\["\\])*)"`)
	badEscape  = regexp.MustCompile(`^"(?:[^"\\]|\\["\\])*\\[^"\\]`)
)

// split returns the words of a line. A word may have a part in quotes, in which a backslash stands before
// a quote or a backslash. A # at the beginning of a word begins a comment.
func split(s string) (words []word, parseErr *ParseError) {
	if !utf8.ValidString(s) {
		return nil, &ParseError{Col: 1, Message: "the line is not UTF-8"}
	}
	rest := strings.TrimLeft(s, " \t")
	for rest != "" && rest[0] != '#' {
		col := utf8.RuneCountInString(s[:len(s)-len(rest)]) + 1
		raw := wordLike.FindString(rest)
		rest = rest[len(raw):]
		if strings.HasPrefix(rest, `"`) { // a part in quotes that is none
			col += utf8.RuneCountInString(raw)
			if escape := badEscape.FindString(rest); escape != "" {
				return nil, &ParseError{
					Col:     col + utf8.RuneCountInString(escape) - 1,
					Message: `in quotes a backslash must be followed by " or \: write \\ for a backslash`,
				}
			}
			return nil, &ParseError{Col: col, Message: "the closing quote is missing"}
		}
		value := quotedPart.ReplaceAllStringFunc(raw, func(part string) string {
			return strings.NewReplacer(`\"`, `"`, `\\`, `\`).Replace(part[1 : len(part)-1])
		})
		words, rest = append(words, word{value, col}), strings.TrimLeft(rest, " \t")
	}
	return words, nil
}

// quote returns a value as it is written behind because= and server=.
func quote(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}
