package fakes_test

import (
	"bufio"
	"crypto/tls"
	"errors"
	"net"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/fakes"
)

func TestAJobGoesFromProducerToConsumer(t *testing.T) {
	t.Parallel()
	s := start(t, fakes.Config{})
	p, c := produce(t, s), consume(t, s, "w1")

	assert.Equal(t, "+OK", p.do(`PUSH {"jid":"0123456789abcdef","jobtype":"größe","args":[9007199254740993, 1.0,{"a": [null]}],"queue":"q","custom":{"b":1,"a":1e400},"x":"kept"}`))
	got := c.do("FETCH q")
	assert.Regexp(t, `^\$\{"jid":"0123456789abcdef","jobtype":"größe","args":\[9007199254740993, 1\.0,\{"a": \[null\]\}\],`+
		`"queue":"q","custom":\{"b":1,"a":1e400\},"x":"kept","reserve_for":1800,"retry":25,`+
		`"created_at":"[0-9T:.-]+Z","enqueued_at":"[0-9T:.-]+Z"\}$`, got)
	assert.Contains(t, c.do("INFO"), `"sets":{"dead":0,"retries":0,"scheduled":0,"working":1}`)
	assert.Equal(t, "+OK", c.do(`ACK {"jid":"0123456789abcdef"}`))
	assert.Regexp(t, "^-ERR ", c.do(`ACK {"jid":"0123456789abcdef"}`))
	assert.Contains(t, c.do("INFO"), `"working":0}`)
	assert.Equal(t, "+OK", c.do(`BEAT {"wid": "w1","rss_kb":54176,"unknown":[]}`))
	assert.Equal(t, "+OK", p.do("END"))
	p.expectEnd()
}

func TestThePrintedConversation(t *testing.T) {
	t.Parallel()
	const hash = "1e440e3f3d2db545e9129bb4b63121b6b09d594dae4344d1d2a309af0e2acac1"
	s := start(t, fakes.Config{Salt: "123456789abc", Iterations: 1735, AcceptHash: hash, StateAsSimple: true})
	p := dial(t, s)
	assert.Equal(t, `+HI {"v":2,"s":"123456789abc","i":1735}`, p.read())
	assert.Equal(t, "+OK", p.do(`HELLO {"pwdhash":"`+hash+`","v":2}`))

	c := dial(t, s)
	c.read()
	assert.Equal(t, "+OK", c.do(`HELLO {"pwdhash":"`+hash+`","hostname":"localhost","wid":"4qpc2443vpvai","pid":2676,"labels":["golang"],"v":2}`))
	assert.Equal(t, "+OK", c.do(`BEAT {"wid": "4qpc2443vpvai","rss_kb":54176}`))
	require.NoError(t, s.Signal("4qpc2443vpvai", "quiet"))
	assert.Equal(t, `+{"state":"quiet"}`, c.do(`BEAT {"wid": "4qpc2443vpvai","rss_kb":55272}`))
	require.NoError(t, s.Signal("", "terminate"))
	require.NoError(t, s.Signal("", "quiet"), "and it changes nothing")
	assert.Equal(t, `+{"state":"terminate"}`, c.do(`BEAT {"wid": "4qpc2443vpvai", "current_state": "quiet"}`))
	assert.Equal(t, "+OK", c.do("END"))
	c.expectEnd()
	assert.ErrorContains(t, s.Signal("nobody", "quiet"), "no such worker")
	assert.ErrorContains(t, s.Signal("", "running"), "neither")
}

func TestPasswords(t *testing.T) {
	t.Parallel()
	const right = "6d877f8e5544b1f2598768f817413ab8a357afffa924dedae99eb91472d4ec30"
	s := start(t, fakes.Config{Password: "foobar", Salt: "55104dc76695721d", Iterations: 1545})
	assert.Equal(t, "tcp://:foobar@"+s.Addr(), s.URL())
	w := dial(t, s)
	assert.Equal(t, `+HI {"v":2,"s":"55104dc76695721d","i":1545}`, w.read())
	for _, hello := range []string{`{"v":2}`, `{"v":2,"pwdhash":5}`, `{"v":2,"pwdhash":null}`, `{"v":2,"pwdhash":""}`,
		`{"v":2,"pwdhash":"` + strings.Repeat("0", 64) + `"}`, `{"v":1,"pwdhash":"` + right + `"}`} {
		assert.Regexp(t, "^-ERR ", w.do("HELLO "+hello), hello)
		assert.Regexp(t, "^-ERR ", w.do("INFO"), hello)
	}
	assert.Equal(t, "+OK", w.do(`HELLO {"v":2,"pwdhash":"`+right+`"}`))
	assert.Regexp(t, `^\$\{`, w.do("INFO"))
}

func TestSaltsAreFresh(t *testing.T) {
	t.Parallel()
	s := start(t, fakes.Config{Password: "secret"})
	greetings := map[string]bool{}
	for range 4 {
		hi := dial(t, s).read()
		assert.Regexp(t, `^\+HI \{"v":2,"s":"[0-9a-f]{16}","i":[4-8][0-9]{3}\}$`, hi)
		assert.False(t, greetings[hi])
		greetings[hi] = true
	}
}

func TestTLS(t *testing.T) {
	t.Parallel()
	other := httptest.NewTLSServer(nil) // for its certificate
	defer other.Close()
	s := start(t, fakes.Config{TLS: &tls.Config{Certificates: other.TLS.Certificates}, FetchBlock: 30 * time.Millisecond})
	assert.Regexp(t, `^tcp\+tls://127\.0\.0\.1:`, s.URL())
	w := dialTLS(t, s).greet(producer)
	assert.Equal(t, "$-1", w.do("FETCH q"), "a wait that ran out must not break the connection")
	assert.Equal(t, "+OK", w.do(job("0123456789abcdef", `"queue":"q"`)))
	assert.Contains(t, w.do("FETCH q"), "0123456789abcdef")
	plain := dial(t, s)
	plain.send("INFO\r\n")
	_, err := plain.try()
	assert.Error(t, err)
}

func TestRestartKeepsTheStore(t *testing.T) {
	t.Parallel()
	for name, restart := range map[string]func(*fakes.Server) error{"restart": (*fakes.Server).Restart,
		"kill": (*fakes.Server).Kill} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := start(t, fakes.Config{})
			addr := s.Addr()
			c := consume(t, s, "w")
			require.Equal(t, "+OK", c.do(job("0123456789abcdef", "")))
			require.Equal(t, "+OK", c.do(job("held0123456789ab", `"queue":"h"`)))
			require.Contains(t, c.do("FETCH h"), "held0123456789ab")
			c.send("FETCH empty\r\n")
			require.NoError(t, restart(s))
			require.Equal(t, addr, s.Addr())
			require.Zero(t, s.Connections())
			c = consume(t, s, "w")
			assert.Contains(t, c.do("FETCH"), "0123456789abcdef")
			assert.Equal(t, "+OK", c.do(`ACK {"jid":"held0123456789ab"}`))
		})
	}
}

func TestHowConnectionsEnd(t *testing.T) {
	t.Parallel()
	s := start(t, fakes.Config{MaxConnections: 2, EndWithoutOK: true})
	first, second := produce(t, s), produce(t, s)
	third := dial(t, s)
	assert.Regexp(t, "^-ERR too many", third.read())
	third.expectEnd()
	first.send("END\r\n")
	first.expectEnd()
	require.Eventually(t, func() bool { return s.Connections() == 1 }, time.Minute, time.Millisecond)
	require.NoError(t, s.Restart())
	second.expectEnd()
	second = produce(t, s)
	require.NoError(t, s.Kill())
	_, err := second.try()
	var reset *net.OpError
	assert.ErrorAs(t, err, &reset)
	s.Close()
	s.Close()
	assert.Error(t, s.Restart())
	assert.Error(t, fakes.NewUnstarted(fakes.Config{}).Restart())
	fakes.NewUnstarted(fakes.Config{}).Close()
}

// A listener of a type that cannot be compared is one like any other.
func TestListenerOfAnyType(t *testing.T) {
	t.Parallel()
	s := start(t, fakes.Config{Listen: func() (net.Listener, error) {
		ln, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
		return struct {
			net.Listener
			_ []int
		}{Listener: ln}, err
	}})
	nc, err := new(net.Dialer).DialContext(t.Context(), "tcp", s.Addr())
	require.NoError(t, err)
	defer nc.Close()
	line, err := bufio.NewReader(nc).ReadString('\n')
	require.NoError(t, err)
	assert.Contains(t, line, "+HI")
}

func TestWhatPanics(t *testing.T) {
	t.Parallel()
	s := start(t, fakes.Config{})
	assert.Panics(t, s.Start)
	portless := fakes.Config{Listen: func() (net.Listener, error) { return nil, errors.New("no port") }}
	assert.Panics(t, func() { fakes.NewServer(portless) })
	require.EqualError(t, fakes.NewUnstarted(portless).TryStart(), "no port")
}
