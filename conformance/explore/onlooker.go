package explore

import (
	"context"
	"fmt"
	"time"
)

// onlook has one client ask all the time how the server is, as long as others push: what
// a server tells it counts what they change, and new queues above all. It holds no jobs.
func (m *crowd) onlook(ctx context.Context, number int, done <-chan struct{}) {
	l := m.newLane(number)
	defer l.leave()
	for in := l.enter(ctx, number); in && ctx.Err() == nil && !isClosed(done); {
		in = l.look(ctx, number)
	}
}

// How often an onlooker asks in a row, after which others have a moment for themselves;
// and of how many times it says one time that it is there instead.
const (
	looks   = 16
	oneBeat = 16
)

// look asks a few times, and says whether to go on.
func (l *lane) look(ctx context.Context, number int) bool {
	for range looks {
		text := "INFO"
		if l.IntN(oneBeat) == 0 {
			text = fmt.Sprintf(`BEAT {"wid":%q}`, l.wid)
		}
		if l.judged(ctx, text); !l.sent.answered {
			return l.again(ctx, number)
		}
	}
	return sleep(ctx, time.Millisecond)
}
