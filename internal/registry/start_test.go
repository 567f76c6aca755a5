package registry

import (
	"bufio"
	"errors"
	"net"
	"net/url"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTheNetworkOfThisMachineHasHooks(t *testing.T) {
	t.Parallel()
	for _, p := range All() {
		accepted := make(chan bool, 9)
		s, err := p.Start(Config{Network: TCP{Wrap: func(nc net.Conn) net.Conn { accepted <- true; return nc }}})
		require.NoError(t, err, p.Name)
		u, err := url.Parse(s.URL)
		require.NoError(t, err, p.Name)
		nc, err := TCP{}.DialContext(t.Context(), "tcp", u.Host)
		require.NoError(t, err, p.Name)
		<-accepted
		_ = nc.Close()
		s.Close()
	}
	errNoticed := errors.New("noticed")
	n := TCP{Notice: func(error) error { return errNoticed }}
	_, err := n.Listen("nowhere")
	require.ErrorIs(t, err, errNoticed)
	_, err = n.DialContext(t.Context(), "tcp", "nowhere")
	assert.ErrorIs(t, err, errNoticed)
}

// A test double has the variation of its configuration, and keeps its journal.
func TestADoubleWithAVariation(t *testing.T) {
	t.Parallel()
	p := Default()
	variation, err := p.VariationNamed("null-for-none")
	require.NoError(t, err)
	d, err := p.Double(DoubleConfig{Config: Config{Variation: variation}, FindBug: p.BugNamed})
	require.NoError(t, err)
	defer d.Close()
	u, err := url.Parse(d.URL)
	require.NoError(t, err)
	nc, err := TCP{}.DialContext(t.Context(), "tcp", u.Host)
	require.NoError(t, err)
	defer nc.Close()
	in := bufio.NewReader(nc)
	for _, line := range []string{
		`HELLO {"v":2,"wid":"w","hostname":"h","pid":1,"labels":[]}`,
		`PUSH {"jid":"0123456789abcdef","jobtype":"t","args":[]}`, `FETCH default`,
	} {
		_, err := in.ReadString('\n')
		require.NoError(t, err)
		_, err = nc.Write([]byte(line + "\r\n"))
		require.NoError(t, err)
	}
	_, err = in.ReadString('\n') // the length
	require.NoError(t, err)
	job, err := in.ReadString('\n')
	require.NoError(t, err)
	assert.Contains(t, job, `"custom":null`)
	assert.Equal(t, 3, d.Summary().Commands)

	_, err = p.VariationNamed("null-for-non")
	require.ErrorContains(t, err, "did you mean null-for-none?")
}
