package expect

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Server is what is known of a server: from its INFO, for example.
type Server struct {
	Name    string // "faktory"; empty: not known
	Version string // "1.10.0"; empty: not known
}

// String returns the name and the version.
func (s Server) String() string { return strings.TrimSpace(s.Name + " " + s.Version) }

// Constraint is the servers that a line is about: a name and bounds of the version. The zero value is all servers.
type Constraint struct {
	name   string
	bounds []bound
	text   string
}

// bound is one bound of a version.
type bound struct{ sign, version string }

// signs holds all signs, the longer ones first.
var signs = [...]string{"<=", ">=", "!=", "<", ">", "="}

// allows reports whether a version is within the bound.
func (b bound) allows(version string) bool {
	order := compareVersions(version, b.version)
	return map[string]bool{
		"<=": order <= 0, ">=": order >= 0, "!=": order != 0, "<": order < 0, ">": order > 0, "=": order == 0,
	}[b.sign]
}

// ParseConstraint reads a constraint: a name and any number of bounds, "faktory >=1.9 <1.9.5" for example.
func ParseConstraint(s string) (Constraint, error) {
	words := strings.Fields(s)
	if len(words) == 0 {
		return Constraint{}, fmt.Errorf("server= names no server: write server=\"faktory <1.9.5\"")
	}
	c := Constraint{name: strings.ToLower(words[0]), text: strings.Join(words, " ")}
	if strings.ContainsAny(c.name[:1], "<>=!") {
		return Constraint{}, fmt.Errorf("%q: a constraint begins with the name of the server: faktory %s", s, s)
	}
	for _, w := range words[1:] {
		i := slices.IndexFunc(signs[:], func(sign string) bool { return strings.HasPrefix(w, sign) })
		if i < 0 {
			return Constraint{}, fmt.Errorf("%q: write <, <=, =, !=, >= or > and a version, without a space", w)
		}
		version := w[len(signs[i]):]
		if version == "" || !digit(version[0]) {
			return Constraint{}, fmt.Errorf("%q: %q is no version", w, version)
		}
		c.bounds = append(c.bounds, bound{signs[i], version})
	}
	return c, nil
}

// String returns the constraint as it was written.
func (c Constraint) String() string { return c.text }

// Allows reports whether the constraint is met. A server of which the name or the version is not known meets none
// that asks for it.
func (c Constraint) Allows(s Server) bool {
	if c.name == "" {
		return true
	}
	if c.name != strings.ToLower(s.Name) {
		return false
	}
	for _, b := range c.bounds {
		if s.Version == "" || !digit(s.Version[0]) || !b.allows(s.Version) {
			return false
		}
	}
	return true
}

// compareVersions compares two versions as semantic versioning does: part by part, numbers as numbers, a missing number
// as 0, and one with a suffix ("-rc1") before the one without. What is behind a + does not count.
func compareVersions(a, b string) int {
	a, _, _ = strings.Cut(strings.TrimPrefix(a, "v"), "+")
	b, _, _ = strings.Cut(strings.TrimPrefix(b, "v"), "+")
	a, preA, isA := strings.Cut(a, "-")
	b, preB, isB := strings.Cut(b, "-")
	if order := compareParts(strings.Split(a, "."), strings.Split(b, "."), "0"); order != 0 {
		return order
	}
	switch {
	case isA != isB && isA:
		return -1
	case isA != isB:
		return 1
	}
	return compareParts(strings.Split(preA, "."), strings.Split(preB, "."), "")
}

// compareParts compares the parts of two versions; missing stands for those that one of them does not have.
func compareParts(a, b []string, missing string) int {
	padded := func(parts []string) []string {
		return append(parts, slices.Repeat([]string{missing}, max(len(a), len(b))-len(parts))...)
	}
	return slices.CompareFunc(padded(a), padded(b), comparePart)
}

// comparePart compares numbers as numbers, which come before words; nothing comes before both.
func comparePart(x, y string) int {
	rank := func(s string) (kind int, n uint64) {
		n, err := strconv.ParseUint(s, 10, 64)
		switch {
		case s == "":
			return 0, 0
		case err == nil:
			return 1, n
		}
		return 2, 0
	}
	kindX, n := rank(x)
	kindY, m := rank(y)
	order := 0
	if kindX == 2 {
		order = cmp.Compare(x, y)
	}
	return cmp.Or(cmp.Compare(kindX, kindY), cmp.Compare(n, m), order)
}

func digit(b byte) bool { return b >= '0' && b <= '9' }
