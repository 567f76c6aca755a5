package history

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestRefusedAgain asks what is known of a job whose worker asked once more after a call
// without a reply.
func TestRefusedAgain(t *testing.T) {
	t.Parallel()
	delivery := []Event{job("j", 0, 1), bring("a", "j", 2, 3)}
	unread := ack("a", "j", 4, 5).withoutReply()
	for name, test := range map[string]struct {
		events  []Event
		settled bool
	}{
		"refused within the reservation": {append(delivery, unread, ack("a", "j", 6, 7).refused()), true},
		"accepted":                       {append(delivery, unread, ack("a", "j", 6, 7)), true},
		"not asked again":                {append(delivery, unread), false},
		"only refused":                   {append(delivery, ack("a", "j", 6, 7).refused()), false},
		"refused too late":               {append(delivery, unread, ack("a", "j", 63, 64).refused()), false},
		"refused to another":             {append(delivery, unread, ack("b", "j", 6, 7).refused()), false},
		"another's call has no reply":    {append(delivery, ack("b", "j", 4, 5).withoutReply(), ack("a", "j", 6, 7).refused()), false},
		"a FAIL with retries left": {
			append(delivery, fail("a", "j", 4, 5).withoutReply(), ack("a", "j", 6, 7).refused()), false,
		},
		"the last FAIL": {
			[]Event{job("j", 0, 1).retry(0), bring("a", "j", 2, 3), fail("a", "j", 4, 5).withoutReply(),
				ack("a", "j", 6, 7).refused()},
			true,
		},
		"delivered again since": {
			append(delivery, unread, bring("b", "j", 70, 71), ack("b", "j", 72, 73).refused()), false,
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
