package play

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestTheRefusalClosestToTheLimitIsKept(t *testing.T) {
	t.Parallel()
	type at struct{ ownConns, all int }
	for name, test := range map[string]struct {
		refusals []at
		want     at
	}{
		"one":                       {[]at{{3, 5}}, at{3, 5}},
		"fewer were open":           {[]at{{3, 5}, {2, 4}}, at{2, 4}},
		"more were open":            {[]at{{2, 4}, {3, 5}}, at{2, 4}},
		"as many were open":         {[]at{{2, 4}, {1, 4}}, at{2, 4}},
		"read when all were closed": {[]at{{4, 4}, {0, 0}}, at{4, 4}},
		"alone at first":            {[]at{{0, 0}, {4, 4}}, at{4, 4}},
		"always alone":              {[]at{{0, 3}, {0, 2}}, at{0, 2}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			peers := new(PeerStats)
			c := NewConnCounter(peers)
			for _, r := range test.refusals {
				c.conns = r.ownConns
				peers.conns.Store(int64(r.all))
				c.NotOpened("no")
			}
			assert.Equal(t, Refusal{Got: "no", OwnConns: test.want.ownConns, AllConns: test.want.all}, *c.Refusal())
		})
	}
}

func TestConnCounter(t *testing.T) {
	t.Parallel()
	peers := new(PeerStats)
	ours, others := NewConnCounter(peers), NewConnCounter(peers)
	first, second := ours.Opened(), ours.Opened()
	others.Opened()
	first.Decide(true, "")
	assert.Equal(t, 3, peers.OpenConns())
	assert.Nil(t, ours.Refusal())

	second.Decide(false, "an error")
	assert.Equal(t, &Refusal{Got: "an error", OwnConns: 1, AllConns: 1}, ours.Refusal(), "as it was when it was opened")
	assert.Equal(t, 2, peers.OpenConns(), "it counts no more")
	second.End()
	second.Decide(false, "its end")
	first.Decide(false, "what comes later")
	assert.Equal(t, 2, peers.OpenConns(), "once")
	assert.Equal(t, "an error", ours.Refusal().Got)

	first.End()
	first.End()
	assert.Equal(t, 1, peers.OpenConns())
	assert.Nil(t, others.Refusal())
}
