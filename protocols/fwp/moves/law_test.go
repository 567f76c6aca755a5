package moves

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/conformance/law"
)

// TestSplit: which commands are complete with what a client writes.
func TestSplit(t *testing.T) {
	t.Parallel()
	for written, want := range map[string]string{
		"INFO\r\n":              "INFO\r\n",
		"INFO\r\nEND\r\n":       "INFO\r\n|END\r\n",
		"IN|FO\r|\nEND\r\n":     "INFO\r\n|END\r\n",
		"INFO":                  "",
		"INFO\nEND\r\n":         "INFO\nEND\r\n",
		"END\r\nINFO\nINFO\r\n": "END\r\n|INFO\nINFO\r\n",
	} {
		l := newLaw(law.Terms{})
		l.Open(1, time.Time{})
		var got []string
		for part := range strings.SplitSeq(written, "|") {
			for _, command := range l.Split(1, []byte(part), time.Time{}) {
				got = append(got, string(command))
			}
		}
		assert.Equal(t, want, strings.Join(got, "|"), "%q", written)
	}
}
