package target

import (
	"cmp"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/internal/base/input"
)

// SystemHosts is the file of names of a machine, of which maxHosts bytes are read.
const (
	SystemHosts = "/etc/hosts"
	maxHosts    = 1 << 20
)

// WriteHosts writes a file of names: those of the machine, and one more with an address, unless that is empty.
func WriteHosts(path, name, address string) error {
	text, _ := input.Read(SystemHosts, maxHosts) // none: there are no other names
	if address != "" {
		text = fmt.Appendf(text, "\n%s %s\n", address, name)
	}
	return os.WriteFile(path, text, 0o644) //nolint:gosec // it is for programs of other users, too
}

// LookupHost returns the address of a name in a file of names; a [*net.DNSError] if it has none.
func LookupHost(path, name string) (string, error) {
	text, err := input.Read(path, maxHosts)
	for line := range strings.Lines(string(text)) {
		if words := strings.Fields(line); len(words) == 2 && words[1] == name {
			return words[0], nil
		}
	}
	return "", cmp.Or(err, error(&net.DNSError{Err: "no such host", Name: name, IsNotFound: true}))
}

// WithHosts returns the program with a file of its own in the place of /etc/hosts, in a mount namespace, and reports
// whether this machine grants it one: privileges are needed, or namespaces of users.
func (p Program) WithHosts(path string) (Program, bool) {
	for _, namespace := range []string{"-m", "-rm"} { // the second one needs no privileges
		words := []string{"unshare", namespace, "sh", "-c", `mount --bind "$0" /etc/hosts && exec "$@"`, path}
		try := Program{Args: append(slices.Clone(words), "true"), Supervisor: p.Supervisor}
		if try.endsWell() {
			p.Args = slices.Concat(words, p.Args)
			return p, true
		}
	}
	return p, false
}

// endsWell reports whether a program ends with exit code 0, soon.
func (p Program) endsWell() bool {
	const soon = 20 * time.Second
	running, err := p.Start()
	if err != nil {
		return false
	}
	defer running.Kill()
	select {
	case <-running.Done():
		return running.Code() == 0
	case <-time.After(soon):
		return false
	}
}
