package variations_test

import (
	"net"
	"strconv"
	"testing"
	"testing/synctest"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/fwp"
	"github.com/fwpsuite/fwp/internal/memnet"
)

const (
	producer = `HELLO {"v":2}`
	consumer = `HELLO {"hostname":"here","wid":"%s","pid":17,"labels":["go"],"v":2}`
)

// wire is a connection of a test.
type wire struct {
	conn net.Conn
	in   *fwp.Reader
}

// try reads a reply and returns its sign and its text, "$-1" for null.
func (w *wire) try() (string, error) {
	r, err := w.in.Read()
	switch r.Kind {
	case fwp.NullBulk:
		return "$-1", err
	case fwp.Array:
		return "*" + strconv.Itoa(len(r.Array)), err
	case fwp.Integer:
		return ":" + strconv.FormatInt(r.Int, 10), err
	case 0:
		return "", err
	}
	return string(rune(r.Kind)) + string(r.Text), err
}

// inMemory runs a test with a server in memory, in virtual time.
func inMemory(t *testing.T, config fakes.Config, test func(t *testing.T, s *fakes.Server, dial func() *wire)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		place := memnet.NewPlace()
		config.Listen = place.Listen
		s := fakes.NewServer(config)
		defer s.Close()
		test(t, s, func() *wire {
			conn := place.MustDial()
			t.Cleanup(func() { conn.Close() })
			return &wire{conn, fwp.NewReader(conn, 0)}
		})
	})
}
