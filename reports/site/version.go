package site

import (
	"cmp"
	"path"
	"regexp"
	"strings"
)

var versionParts = regexp.MustCompile(`[0-9]+|[a-z]+`)

// compareVersions returns the order of two versions: numbers count as numbers, and a word behind a number is a version
// before it, so that 1.9 < 1.10-rc1 < 1.10 < 1.10-1. A version that begins with a word, "main" for example, comes behind
// all numbers, and none at all before them.
func compareVersions(a, b string) int {
	x, y := partsOf(a), partsOf(b)
	for i := range max(len(x), len(y)) {
		p, q := part(x, i), part(y, i)
		order := kindOfPart(p, i) - kindOfPart(q, i)
		if order == 0 && isNumber(p) {
			order = len(p) - len(q)
		}
		if order = cmp.Or(order, strings.Compare(p, q)); order != 0 {
			return order
		}
	}
	return strings.Compare(a, b)
}

func partsOf(version string) []string {
	parts := versionParts.FindAllString(strings.TrimPrefix(strings.ToLower(version), "v"), -1)
	for i, p := range parts {
		if isNumber(p) {
			parts[i] = cmp.Or(strings.TrimLeft(p, "0"), "0")
		}
	}
	return parts
}

func part(parts []string, i int) string {
	if i < len(parts) {
		return parts[i]
	}
	return ""
}

func isNumber(part string) bool { return part != "" && part[0] <= '9' }

// kindOfPart returns the order of the kinds of parts at a place of a version.
func kindOfPart(part string, place int) int {
	const word, end, number, branch = 0, 1, 2, 3
	switch {
	case part == "":
		return end
	case isNumber(part):
		return number
	case place == 0:
		return branch
	}
	return word
}

var nameAndVersion = regexp.MustCompile(`^(.*[^-_ @])[-_ @]+[vV]?([0-9][^/]*|main|master|head|HEAD)$`)

// NameOfFile returns the name and the version that the name of a file stands for: "faktory" and "1.9.4" for
// faktory-1.9.4.json. The version is empty if there is none.
func NameOfFile(file string) (name, version string) {
	name = path.Base(strings.ReplaceAll(file, `\`, "/"))
	for _, end := range []string{".json", ".html"} {
		name = strings.TrimSuffix(name, end)
	}
	if m := nameAndVersion.FindStringSubmatch(name); m != nil {
		return m[1], m[2]
	}
	return name, ""
}
