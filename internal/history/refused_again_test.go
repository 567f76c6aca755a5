package history

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestRefusedAgain asks what is known of a job whose worker asked once more after a call
// without a reply.
func TestRefusedAgain(t *testing.T) {
	t.Parallel()
	held := []Event{job("j", 0, 1), bring("a", "j", 2, 3)}
	unread := ack("a", "j", 4, 5).opened()
	for name, test := range map[string]struct {
		events  []Event
		settled bool
	}{
		"refused within the reservation": {append(held, unread, ack("a", "j", 6, 7).refused()), true},
		"accepted":                       {append(held, unread, ack("a", "j", 6, 7)), true},
		"not asked again":                {append(held, unread), false},
		"only refused":                   {append(held, ack("a", "j", 6, 7).refused()), false},
		"refused too late":               {append(held, unread, ack("a", "j", 63, 64).refused()), false},
		"refused to another":             {append(held, unread, ack("b", "j", 6, 7).refused()), false},
		"another's call has no reply":    {append(held, ack("b", "j", 4, 5).opened(), ack("a", "j", 6, 7).refused()), false},
		"a FAIL with retries left": {
			append(held, fail("a", "j", 4, 5).opened(), ack("a", "j", 6, 7).refused()), false,
		},
		"the last FAIL": {
			[]Event{job("j", 0, 1).retry(0), bring("a", "j", 2, 3), fail("a", "j", 4, 5).opened(),
				ack("a", "j", 6, 7).refused()},
			true,
		},
		"delivered again since": {
			append(held, unread, bring("b", "j", 70, 71), ack("b", "j", 72, 73).refused()), false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := Examine(&History{Events: test.events})
			assert.Empty(t, r.Findings)
			assert.Equal(t, test.settled, r.Settled == 1)
		})
	}
}
