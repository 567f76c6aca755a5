package main

import (
	"errors"
	"fmt"
	"io"
	"net"
	"regexp"
	"testing"
	"time"

	"github.com/fwpsuite/fwp/tools/strangers/table"
	"github.com/fwpsuite/fwp/tools/strangers/table/tabletest"
)

var mutants, variants = table.Split(departures)

// step is one line of a script. Names that begin with w or s are of the backend, all others of the frontend.
type step struct {
	who   string
	send  []string      // the frames to send
	slow  bool          // one byte after the other
	want  []string      // the frames to get; <*> stands for anything, <seconds> for a timestamp
	none  string        // a form of commands that must not come during wait
	wait  time.Duration // a pause, or the time within which want has to come
	leave bool          // the peer closes its connection
}

type script = tabletest.Script[step]

func says(who string, frames ...string) step {
	return step{who: who, send: append([]string{"", version}, frames...)}
}

func gets(who string, frames ...string) step {
	return step{who: who, want: append([]string{"", version}, frames...)}
}

// silent tells that a peer gets no message of these commands, in the form of a regular expression.
func silent(who, commands string, ms int) step {
	return step{who: who, none: "^(" + commands + ")$", wait: time.Duration(ms) * time.Millisecond}
}

// slowly sends one byte after the other; within limits the time for what is to be got.
func slowly(st step) step {
	st.slow = true
	return st
}

func within(ms int, st step) step {
	st.wait = time.Duration(ms) * time.Millisecond
	return st
}

func pause(ms int) step      { return step{wait: time.Duration(ms) * time.Millisecond} }
func leaves(who string) step { return step{who: who, leave: true} }

// player runs one script against one broker.
type player struct {
	front, back string
	wires       map[string]*wire
	ids         map[string]bool // the ids of what the broker sent of its own
}

func (p *player) wire(who string) (*wire, error) {
	if p.wires[who] != nil {
		return p.wires[who], nil
	}
	addr := p.front
	if who[0] == 'w' || who[0] == 's' {
		addr = p.back
	}
	w, err := dial(addr, who)
	p.wires[who] = w
	return w, err
}

// play returns the first departure from the script.
func (p *player) play(steps []step) error {
	for i, st := range steps {
		if err := p.step(st); err != nil {
			return fmt.Errorf("step %d, %s: %w", i+1, st.who, err)
		}
	}
	return nil
}

func (p *player) step(st step) error {
	if st.who == "" {
		time.Sleep(st.wait)
		return nil
	}
	w, err := p.wire(st.who)
	if err != nil {
		return err
	}
	switch {
	case st.leave:
		delete(p.wires, st.who)
		return w.nc.Close()
	case st.send != nil:
		return write(w, encode(st.send), st.slow)
	case st.want != nil:
		return p.expect(w, st.want, st.wait)
	}
	return p.quiet(w, st.none, st.wait)
}

// write sends bytes, all at once or one after the other.
func write(w *wire, bytes []byte, slow bool) error {
	for slow && len(bytes) > 1 {
		if _, err := w.nc.Write(bytes[:1]); err != nil {
			return err
		}
		bytes = bytes[1:]
		time.Sleep(2 * time.Millisecond)
	}
	_, err := w.nc.Write(bytes)
	return err
}

// next reads one message. The ids of heartbeats and ACKs must be new.
func (p *player) next(w *wire, within time.Duration) ([]string, error) {
	frames, err := w.message(within)
	if err != nil {
		return nil, err
	}
	if len(frames) > 3 && (frames[2] == "HEARTBEAT" || frames[2] == "ACK") {
		if p.ids[frames[3]] {
			return nil, fmt.Errorf("the id is not new: %q", frames)
		}
		p.ids[frames[3]] = true
	}
	return frames, nil
}

// expect reads a message, over heartbeats and ACKs unless those are wanted.
func (p *player) expect(w *wire, want []string, within time.Duration) error {
	if within == 0 {
		within = 1200 * time.Millisecond
	}
	for {
		frames, err := p.next(w, within)
		if err != nil {
			return fmt.Errorf("want %q: %w", want, err)
		}
		if len(frames) > 2 && frames[2] != want[2] && (frames[2] == "HEARTBEAT" || frames[2] == "ACK") {
			continue
		}
		if !fits(frames, want) {
			return fmt.Errorf("want %q, got %q", want, frames)
		}
		return nil
	}
}

// seconds is a unix timestamp, with or without a fraction.
var seconds = regexp.MustCompile(`^[0-9]{9,10}(\.[0-9]+)?$`)

// fits compares frames with a pattern.
func fits(frames, want []string) bool {
	if len(frames) != len(want) {
		return false
	}
	for i, f := range frames {
		switch {
		case f == want[i], want[i] == "<*>":
		case want[i] == "<seconds>" && seconds.MatchString(f):
		default:
			return false
		}
	}
	return true
}

// quiet reads for a while, and refuses messages of some commands.
func (p *player) quiet(w *wire, none string, during time.Duration) error {
	end := time.Now().Add(during)
	for {
		frames, err := p.next(w, time.Until(end))
		var ne net.Error
		switch {
		case errors.As(err, &ne) && ne.Timeout():
			return nil
		case err == io.EOF:
			return fmt.Errorf("the connection was closed")
		case err != nil:
			return err
		case len(frames) < 3 || regexp.MustCompile(none).MatchString(frames[2]):
			return fmt.Errorf("want nothing, got %q", frames)
		}
	}
}

// run plays steps against a fresh broker, which sends a heartbeat every 200 ms.
func run(t *testing.T, steps []step, mutant, variant int) error {
	t.Helper()
	b := newBroker(mutant, variant, 200*time.Millisecond, 900*time.Millisecond)
	p := &player{wires: map[string]*wire{}, ids: map[string]bool{}}
	for sock, addr := range map[string]*string{"front": &p.front, "back": &p.back} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		*addr = l.Addr().String()
		go b.serve(l, sock)
	}
	go b.beats()
	defer func() {
		for _, w := range p.wires {
			if w != nil {
				w.nc.Close()
			}
		}
	}()
	return p.play(steps)
}

// suite plays the scripts. Of these TestMutants and TestVariants find what departs, and TestOverlap, when
// STRANGERS_OVERLAP is set, the mutants that fail the script of another one.
func suite() tabletest.Suite[step] {
	return tabletest.Suite[step]{Mutants: mutants, Variants: variants, Scripts: scripts(), Basics: basics(), Run: run}
}

func TestMutants(t *testing.T)  { suite().TestMutants(t) }
func TestVariants(t *testing.T) { suite().TestVariants(t) }
func TestOverlap(t *testing.T)  { suite().TestOverlap(t) }
