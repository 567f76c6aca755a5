package emqpspeaker

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/fwpsuite/fwp/load/protocol"
)

const introduceTimeout = 10 * time.Second

// Introduce exchanges greeting, READY, PING and PONG with the broker. It reports nothing about itself.
func (p Protocol) Introduce(ctx context.Context, dial protocol.Dial) (in protocol.Introduction, err error) {
	nc, err := dial(ctx)
	if err != nil {
		return in, err
	}
	defer nc.Close()
	nc.SetDeadline(time.Now().Add(introduceTimeout))
	defer context.AfterFunc(ctx, func() { nc.SetDeadline(time.Unix(1, 0)) })()
	s := p.speaker("")
	var kept []byte
	buffer := make([]byte, 4<<10)
	e := protocol.Event{Kind: protocol.Greeted}
	for e.Kind != protocol.OK {
		if e.Kind == protocol.Greeted {
			e.Answer, _ = s.Open(e.Answer) // it has no error
		}
		if _, err := nc.Write(e.Answer); err != nil {
			return in, fmt.Errorf("send greeting and PING: %w", err)
		}
		e = protocol.Event{}
		n, err := s.Hear(kept, &e)
		for errors.Is(err, protocol.ErrShort) {
			var m int
			if m, err = nc.Read(buffer); m == 0 {
				return in, silent(ctx, err)
			}
			kept = append(kept, buffer[:m]...)
			e = protocol.Event{}
			n, err = s.Hear(kept, &e)
		}
		if err != nil {
			return in, err
		}
		if e.Kind == protocol.Refused {
			return in, e.Err
		}
		kept = kept[n:]
	}
	return in, nil
}

// silent returns what a failed read means.
func silent(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, os.ErrDeadlineExceeded):
		return fmt.Errorf("the broker did not answer greeting, READY and PING (ZMTP 3.1) within %v", introduceTimeout)
	}
	return fmt.Errorf("the broker ended the connection instead of answering greeting, READY and PING: %w", err)
}
