package load

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/load/client"
)

func TestWatchdog(t *testing.T) {
	t.Parallel()
	type look struct {
		at     time.Duration
		status client.Status
	}
	last := errors.New("no room")
	second := func(n float64) time.Duration { return time.Duration(n * float64(time.Second)) }
	tests := map[string]struct {
		patience time.Duration
		silent   time.Duration
		looks    []look
		want     string
	}{
		"nothing is asked": {looks: []look{{second(60), client.Status{}}}},
		"commands succeed": {looks: []look{
			{second(9), client.Status{InFlight: 1, Served: 1}}, {second(18), client.Status{InFlight: 1, Served: 2}},
		}},
		"no answer": {
			looks: []look{{second(10.1), client.Status{InFlight: 1}}},
			want:  "no command was answered for 10s",
		},
		"no answer, but there is time": {silent: second(20), looks: []look{{second(20), client.Status{InFlight: 1}}}},
		"no answer in the longer time": {
			silent: second(20), looks: []look{{second(20.1), client.Status{InFlight: 1}}},
			want: "no command was answered for 20s",
		},
		"no answer, and less time": {silent: second(3), looks: []look{{second(10), client.Status{InFlight: 1}}}},
		"no answer yet":            {looks: []look{{second(10), client.Status{InFlight: 1}}}},
		"workers work":             {patience: second(1), looks: []look{{second(11), client.Status{InFlight: 1}}}},
		"answers come":             {looks: []look{{second(6), client.Status{}}, {second(16), client.Status{InFlight: 1}}}},
		"a few errors":             {looks: []look{{second(9), client.Status{Errors: 9}}}},
		"errors at once":           {looks: []look{{second(5), client.Status{Errors: 10}}}},
		"errors only": {
			looks: []look{{second(5.1), client.Status{Errors: 10}}},
			want:  "there were only errors for 5s",
		},
		"errors only, and the last": {
			looks: []look{{second(2), client.Status{Served: 1, Errors: 5}},
				{second(7.5), client.Status{Served: 1, Errors: 15, Last: last}}},
			want: "there were only errors for 6s (no room)",
		},
		"errors before the last success": {looks: []look{
			{second(2), client.Status{Served: 1, Errors: 6}}, {second(7.5), client.Status{Served: 1, Errors: 15}},
		}},
		"errors while workers work": {patience: second(1), looks: []look{{second(6), client.Status{Errors: 10}}}},
		"a stall stays": {
			looks: []look{{second(10.1), client.Status{InFlight: 1}}, {second(30), client.Status{InFlight: 1, Served: 1}}},
			want:  "no command was answered for 10s",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := watchdog{silent: test.silent}
			for _, look := range test.looks {
				w.observe(look.at, &look.status, test.patience)
			}
			assert.Equal(t, test.want, w.stall)
			assert.Equal(t, test.want != "", w.stalled())
			w.reset(second(40), &client.Status{Errors: 100})
			w.observe(second(46), &client.Status{Errors: 109}, 0)
			assert.False(t, w.stalled(), "after a reset")
		})
	}
}
