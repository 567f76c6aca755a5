package session_test

import (
	"slices"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/internal/base/memnet"
	"github.com/fwpsuite/fwp/internal/session"
	"github.com/fwpsuite/fwp/protocols/emqp"
	emqpsession "github.com/fwpsuite/fwp/protocols/emqp/session"
	"github.com/fwpsuite/fwp/protocols/emqp/zmtp"
)

// TestPongOfAnOldPeer: a broker of ZMTP 3.0 gets no PING. The PONG comes behind the message that the broker has begun,
// and a wait that is given up ends as ever.
func TestPongOfAnOldPeer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		place := memnet.NewPlace()
		l := place.MustListen()
		defer l.Close()
		nc, p, err := emqpsession.Open(place.MustDial(), emqpsession.Settings{Acks: true})
		require.NoError(t, err)
		peer, err := l.Accept()
		require.NoError(t, err)
		defer peer.Close()
		c := session.New(nc, p, session.Config{})
		old := zmtp.NewGreeting()
		old.Version.Minor = 0
		_, err = peer.Write(zmtp.Ready(nil).Append(old.Append(nil)))
		require.NoError(t, err)
		assert.Equal(t, zmtp.READY, string(next(t, c).Message.Text))

		ping := func() {
			require.NoError(t, c.Write(t.Context(), [][]byte{zmtp.Ping(0, []byte("fwp")).Append(nil)}, 0))
		}
		pong := func() {
			m := next(t, c).Message
			assert.Equal(t, zmtp.PONG, string(m.Text))
			assert.Equal(t, "fwp", string(m.Parts[0]))
		}
		for range 2 {
			ping()
			pong()
			assert.True(t, c.GiveUp(t.Context()).GaveUp)
		}
		message := zmtp.AppendMessage(nil, emqp.Kbai("k").Frames()...)
		half := len(message) / 2
		_, err = peer.Write(message[:half])
		require.NoError(t, err)
		synctest.Wait()
		ping()
		synctest.Wait()
		_, err = peer.Write(message[half:])
		require.NoError(t, err)
		assert.Equal(t, emqp.KBAI, string(next(t, c).Message.Parts[2]))
		pong()

		send(t, c, emqp.Request("r", "q", nil, "text"))
		require.NoError(t, c.End(session.Closed))
		r := zmtp.NewReader(peer, zmtp.Limits{})
		var names []string
		for {
			item, err := r.Read()
			if err != nil {
				break
			}
			names = append(names, item.Command.Name)
		}
		assert.False(t, slices.Contains(names, zmtp.PING), names)
		assert.Len(t, names, 3) // greeting, READY, REQUEST
	})
}
