package known

import (
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
		return Constraint{}, fmt.Errorf("server= is empty: write server=\"faktory <1.9.5\"")
	}
	c := Constraint{name: strings.ToLower(words[0]), text: strings.Join(words, " ")}
	if strings.ContainsAny(c.name[:1], "<>=!") {
		return Constraint{}, fmt.Errorf("%q: begin with the name of the server: faktory %s", s, s)
	}
	for _, w := range words[1:] {
		i := slices.IndexFunc(signs[:], func(sign string) bool { return strings.HasPrefix(w, sign) })
		if i < 0 {
			return Constraint{}, fmt.Errorf("%q: write <, <=, =, !=, >= or > and a version, without a space", w)
		}
		version := w[len(signs[i]):]
		if version == "" || !digit(version[0]) {
			return Constraint{}, fmt.Errorf("%q: %q is not a version", w, version)
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
func compareVersions(a, b string) int { return slices.Compare(sortKey(a), sortKey(b)) }

// The keys of what is no part of a version; all parts come behind them.
const suffixed, unsuffixed = "0", "1"

// sortKey returns the parts of a version as texts that are ordered as versions are.
func sortKey(version string) []string {
	version, _, _ = strings.Cut(strings.TrimPrefix(version, "v"), "+")
	version, suffix, isSuffixed := strings.Cut(version, "-")
	numbers := strings.Split(version, ".")
	for len(numbers) > 0 && strings.Trim(numbers[len(numbers)-1], "0") == "" {
		numbers = numbers[:len(numbers)-1]
	}
	if !isSuffixed {
		return append(partKeys(numbers), unsuffixed)
	}
	return slices.Concat(partKeys(numbers), []string{suffixed}, partKeys(strings.Split(suffix, ".")))
}

// partKeys orders numbers as numbers, which come before words; nothing comes before both.
func partKeys(parts []string) (keys []string) {
	for _, part := range parts {
		key := "3" + part
		if n, err := strconv.ParseUint(part, 10, 64); err == nil {
			key = fmt.Sprintf("2%020d", n)
		} else if part == "" {
			key = "2"
		}
		keys = append(keys, key)
	}
	return keys
}

func digit(b byte) bool { return b >= '0' && b <= '9' }
