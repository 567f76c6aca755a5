package site

import (
	"cmp"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
)

// longestSlug is how many characters of a name are in an address.
const longestSlug = 80

var addressChars = regexp.MustCompile(`[^a-z0-9._]+`)

// slug returns what stands for a name in an address: small letters, digits, points and hyphens, of which the first is a
// letter or a digit. Different names may have the same.
func slug(name string) string {
	s := addressChars.ReplaceAllString(strings.ToLower(name), "-")
	return cmp.Or(strings.Trim(s[:min(len(s), longestSlug)], "-._"), "unnamed")
}

// addresses hands out addresses, each once.
type addresses map[string]bool

// take returns an address in a folder for a name: one that is taken already gets a number.
func (a addresses) take(folder, name string) string {
	address := folder + slug(name)
	for n := 2; a[address]; n++ {
		address = fmt.Sprintf("%s%s-%d", folder, slug(name), n)
	}
	a[address] = true
	return address
}

var versionParts = regexp.MustCompile(`[0-9]+|[a-z]+`)

// compareVersions returns the order of two versions: numbers count as numbers, and a word behind a number is a version
// before it, so that 1.9 < 1.10-rc1 < 1.10 < 1.10-1. A version that begins with a word, "main" for example, comes
// behind all numbers, and none at all before them.
func compareVersions(a, b string) int {
	return cmp.Or(slices.Compare(versionKey(a), versionKey(b)), strings.Compare(a, b))
}

// versionKey returns the parts of a version, each as a text that is in order: words, the end, numbers, branches.
func versionKey(version string) (key []string) {
	for i, part := range versionParts.FindAllString(strings.TrimPrefix(strings.ToLower(version), "v"), -1) {
		digits := strings.TrimLeft(part, "0")
		switch {
		case part[0] <= '9':
			part = fmt.Sprintf("3 %9d %s", len(digits), digits)
		case i == 0:
			part = "4 " + part
		default:
			part = "1 " + part
		}
		key = append(key, part)
	}
	return append(key, "2")
}

var nameAndVersion = regexp.MustCompile(`^(.*[^-_ @])[-_ @]+[vV]?([0-9].*|main|master|head|HEAD)$`)

// NameOfFile returns the name and the version that the name of a file stands for: "faktory" and "1.9.4" for
// faktory-1.9.4.json. The version is empty if there is none.
func NameOfFile(file string) (name, version string) {
	name = path.Base(strings.ReplaceAll(file, `\`, "/"))
	name = strings.TrimSuffix(strings.TrimSuffix(name, ".json"), ".html")
	if m := nameAndVersion.FindStringSubmatch(name); m != nil {
		return m[1], m[2]
	}
	return name, ""
}
