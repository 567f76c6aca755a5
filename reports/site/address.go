package site

import (
	"fmt"
	"strings"
)

// longestSlug is how many characters of a name are in an address.
const longestSlug = 80

// slug returns what stands for a name in an address: small letters, digits, points and hyphens, of which the first is a
// letter or a digit. Different names may have the same.
func slug(name string) string {
	var out strings.Builder
	for _, r := range strings.ToLower(name) {
		if !('a' <= r && r <= 'z' || '0' <= r && r <= '9' || r == '.' || r == '_') {
			r = '-'
		}
		if out.Len() < longestSlug && (r != '-' || !strings.HasSuffix(out.String(), "-")) {
			out.WriteRune(r)
		}
	}
	if s := strings.Trim(out.String(), "-._"); s != "" {
		return s
	}
	return "unnamed"
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

// relative returns the address of a page as a page at another address links to it; none stays none.
func relative(from, to string) string {
	if to == "" {
		return ""
	}
	a, b := strings.Split(from, "/"), strings.Split(to, "/")
	same := 0
	for same < len(a)-1 && same < len(b)-1 && a[same] == b[same] && !strings.Contains(b[same], "#") {
		same++
	}
	return strings.Repeat("../", len(a)-1-same) + strings.Join(b[same:], "/")
}
