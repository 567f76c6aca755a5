package explore

import (
	"context"
	"fmt"
	"strings"

	"github.com/fwpsuite/fwp/fwp"
	"github.com/fwpsuite/fwp/scenarios"
)

// diet is one kind of input that leaves nothing behind on a right server.
type diet struct {
	name        string // of a round of it, in words
	connections int
	lines       int    // on each of them
	text        string // of a line
	whole       bool   // it has an end, and is answered
	once        []Step // the smallest part of it, as steps
	n           int    // of these in a round
}

const kibibytes64 = 64 << 10

// rightDiet is what a right client does: more bytes than any of the others.
func rightDiet() diet {
	filler := strings.Repeat("x", kibibytes64)
	text := fmt.Sprintf(`BEAT {"wid":"$wid%d","rss_kb":1,"fwpcheck":"%s"}`, fuzzedNames, filler)
	return diet{connections: 1, lines: 100, text: text, whole: true}
}

// diets are those that a server may have kept something of.
func diets() []diet {
	filler := strings.Repeat("x", kibibytes64)
	opened := Step{Kind: Open, Conn: 2, Role: scenarios.Producer}
	closed := Step{Kind: End, Conn: 2, Ending: scenarios.Closed}
	half := Step{Kind: Send, Conn: 2, Raw: true, Ahead: true, Segments: []string{`PUSH {"jid":"$filler(64KiB)`}}
	return []diet{
		{name: "300 connections that are opened and closed", connections: 300, once: []Step{opened, closed}, n: 300},
		{name: "4000 commands that are refused", connections: 1, lines: 4000, text: `ACK {"jid":5}`, whole: true,
			once: []Step{opened, line(2, `ACK {"jid":5}`), closed}, n: 4000},
		{name: "64 commands of 64 KiB that are refused", connections: 1, lines: 64, text: "ACK " + filler, whole: true,
			once: []Step{opened, line(2, "ACK $filler(64KiB)"), closed}, n: 64},
		{name: "64 lines of 64 KiB that end with their connection", connections: 64, lines: 1, text: `PUSH {"jid":"` + filler,
			once: []Step{opened, half, closed}, n: 64},
	}
}

// feed plays a round. It fails if the server does not serve.
func (d diet) feed(ctx context.Context, p *play) error {
	line := p.fill(d.text, fwp.Hi{})
	for range d.connections {
		if err := d.one(ctx, p, line); err != nil {
			return err
		}
	}
	return nil
}

// one plays one connection of a round.
func (d diet) one(ctx context.Context, p *play, line string) error {
	c, err := p.greeted(ctx)
	if err != nil {
		return err
	}
	defer c.leave(scenarios.Closed)
	for range d.lines {
		if d.whole {
			_, err = c.ask(ctx, line, p.patience)
		} else {
			err = c.write(ctx, [][]byte{[]byte(line)}, 0, p.patience)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// script writes the input as a script. No line of it can fail: it is the server's memory
// that has to be watched while it is played.
func (d diet) script() string {
	w := newWriter(Trace{Steps: d.once})
	w.r.hit.step = -1
	w.line("title: memory grows with %s", d.name)
	w.line("")
	repeated := func(from, to int) {
		w.line("repeat %d", d.n*memoryRounds)
		for i := from; i < to; i++ {
			w.step(i, &d.once[i])
		}
		w.line("end")
	}
	if last := len(d.once) - 1; d.lines > 1 { // on one connection
		w.step(0, &d.once[0])
		repeated(1, last)
		w.step(last, &d.once[last])
	} else {
		repeated(0, last+1)
	}
	return marked(w.b.String())
}
