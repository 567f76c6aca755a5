package wire_test

import (
	"bufio"
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/load/wire"
	fwpwire "github.com/fwpsuite/fwp/protocols/fwp/wire"
)

// runIntroduction returns the result of an introduction to a server that sends these bytes: the first when it is connected,
// each of the others after a line. Then it closes, unless it hangs.
func runIntroduction(t *testing.T, hangs bool, replies ...string) (in wire.Introduction, lines []string, err error) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		ours, server := net.Pipe()
		done := make(chan struct{})
		go func() {
			defer close(done)
			defer server.Close()
			from := bufio.NewScanner(server)
			for i, reply := range replies {
				if i > 0 && from.Scan() {
					lines = append(lines, from.Text())
				}
				_, _ = server.Write([]byte(reply))
			}
			for hangs && from.Scan() {
				lines = append(lines, from.Text())
			}
		}()
		c := fwpwire.Config{Password: "secret"}
		in, err = c.Introduce(t.Context(), func(context.Context) (net.Conn, error) { return ours, nil })
		<-done
	})
	return in, lines, err
}

func TestIntroduce(t *testing.T) {
	t.Parallel()
	in, lines, err := runIntroduction(t, false, `+HI {"v":2,"i":3,"s":"abc"}`+"\r\n", okReply, "$2\r\n{}\r\n", okReply)
	require.NoError(t, err)
	assert.Nil(t, in.Breach)
	assert.JSONEq(t, `{"v":2,"i":3,"s":"abc"}`, string(in.Greeting))
	assert.JSONEq(t, `{}`, string(in.Info))
	require.Len(t, lines, 3)
	assert.Regexp(t, `^HELLO .*"pwdhash":"[0-9a-f]{64}"`, lines[0])
	assert.Equal(t, []string{"INFO", "END"}, lines[1:])
}

func TestIntroduceFails(t *testing.T) {
	t.Parallel()
	const silent = "the server sent nothing for 10s instead of "
	for name, test := range map[string]struct {
		hangs   bool
		replies []string
		want    string
	}{
		"closes":             {replies: nil, want: "the server closed the connection instead of greeting"},
		"closes in a reply":  {replies: []string{"+HI"}, want: "the server closed the connection instead of greeting"},
		"is silent":          {hangs: true, want: silent + "greeting"},
		"sends noise":        {replies: []string{"noise\r\n"}, want: "the server sent invalid RESP instead of greeting: "},
		"greets wrong":       {replies: []string{okReply}, want: `got a simple string "OK"`},
		"refuses":            {replies: []string{"-ERR busy\r\n"}, want: "the server greeted with an error: ERR busy"},
		"refuses HELLO":      {replies: []string{greetingReply, "-ERR no\r\n"}, want: "the server refused HELLO: ERR no"},
		"is silent at HELLO": {hangs: true, replies: []string{greetingReply}, want: silent + "answering HELLO"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, _, err := runIntroduction(t, test.hangs, test.replies...)
			require.ErrorContains(t, err, test.want)
		})
	}
	dialErr := errors.New("down")
	_, err := fwpwire.New("").Introduce(t.Context(), func(context.Context) (net.Conn, error) { return nil, dialErr })
	require.ErrorIs(t, err, dialErr)
}

// A load that pushes several jobs at a time asks whether the server can.
func TestIntroduceForBatches(t *testing.T) {
	t.Parallel()
	for reply, want := range map[string]string{"$2\r\n{}\r\n": "", "-ERR unknown command\r\n": "the run needs PUSHB"} {
		synctest.Test(t, func(t *testing.T) {
			ours, server := net.Pipe()
			go func() {
				defer server.Close()
				from := bufio.NewScanner(server)
				for _, text := range []string{greetingReply, okReply, reply, "$2\r\n{}\r\n", okReply} {
					_, _ = server.Write([]byte(text))
					from.Scan()
				}
			}()
			c := fwpwire.Config{Batches: true}
			_, err := c.Introduce(t.Context(), func(context.Context) (net.Conn, error) { return ours, nil })
			if want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, want)
		})
	}
}

// The load does not need the reply to INFO.
func TestIntroduceWithoutInfo(t *testing.T) {
	t.Parallel()
	for reply, breach := range map[string]string{
		"-ERR no\r\n": "", "": "", "$5\r\n{": "",
		okReply: wire.ImpossibleReply + "INFO", "?\r\n": wire.BrokenGrammar + "reply type",
	} {
		t.Run(strings.TrimSpace(reply), func(t *testing.T) {
			t.Parallel()
			for _, hangs := range []bool{false, true} {
				in, _, err := runIntroduction(t, hangs, greetingReply, okReply, reply)
				require.NoError(t, err)
				assert.Empty(t, in.Info)
				if breach == "" {
					assert.Nil(t, in.Breach)
					continue
				}
				require.NotNil(t, in.Breach)
				assert.Equal(t, breach, in.Breach.Breach)
			}
		})
	}
}
