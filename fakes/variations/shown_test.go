package variations_test

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/fakes/variations"
)

func TestVariationsAreWellFormed(t *testing.T) {
	t.Parallel()
	slug := regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)
	var names []string
	for _, v := range variations.All() {
		names = append(names, v.Name)
		assert.Regexp(t, slug, v.Name)
		assert.NotEmpty(t, v.Summary, v.Name)
		assert.NotEmpty(t, v.Reading, v.Name)
		assert.NotNil(t, v.Configure, v.Name)
	}
	assert.True(t, slices.IsSorted(names))
	assert.Equal(t, names, slices.Compact(slices.Clone(names)))
	assert.Equal(t, names, slices.Sorted(maps.Keys(conversations())))
}

func TestAVariationKeepsTheHookThatIsThere(t *testing.T) {
	t.Parallel()
	for _, v := range variations.All() {
		seen := false
		config := fakes.Config{Hook: func(*fakes.Event) { seen = true }}
		v.Configure(&config)
		config.Hook(&fakes.Event{Conn: &fakes.Conn{}})
		assert.True(t, seen, v.Name)
	}
}

// For each variation there is a conversation that a server without it does not have.
func TestVariationsDiffer(t *testing.T) {
	t.Parallel()
	talks := conversations()
	for _, v := range variations.All() {
		t.Run(v.Name, func(t *testing.T) {
			t.Parallel()
			var config fakes.Config
			if strings.HasPrefix(v.Name, "password-") {
				config = fakes.Config{AcceptHash: "6d877f8e5544b1f2598768f817413ab8a357afffa924dedae99eb91472d4ec30"}
			}
			inMemory(t, config, func(t *testing.T, s *fakes.Server, dial func() *wire) {
				assert.Error(t, newTalk(s, dial).hold(talks[v.Name]), "it does not show")
			})
			v.Configure(&config)
			inMemory(t, config, func(t *testing.T, s *fakes.Server, dial func() *wire) {
				assert.NoError(t, newTalk(s, dial).hold(talks[v.Name]))
			})
		})
	}
}

// conversations are those of all variations.
func conversations() map[string]string {
	all := maps.Clone(shown)
	maps.Copy(all, shownByJobs)
	maps.Copy(all, shownLate)
	maps.Copy(all, shownSlow)
	maps.Copy(all, shownClosed)
	maps.Copy(all, shownDelayed)
	maps.Copy(all, shownValues)
	maps.Copy(all, shownClients)
	maps.Copy(all, shownOpen)
	return all
}

// talk is a conversation with a server. Its lines are
//
//	a: name              a connection of that name; "a: hello" and "a: worker" greet on it
//	a> INFO              sends a line; "a> INFO\n", in quotes, sends bytes
//	a< ^\$\{             a reply that matches
//	a! close             closes the connection
//	a< close             the end of the connection, or "reset"
//	took 2s              since the last line was sent, or the last connection was made
//	wait 700ms
//	operator quiet       for all workers, or "terminate"
//	operator kill
//	operator restart     begins
type talk struct {
	s     *fakes.Server
	dial  func() *wire
	wires map[string]*wire
	began time.Time
}

func newTalk(s *fakes.Server, dial func() *wire) *talk {
	return &talk{s: s, dial: dial, wires: map[string]*wire{}}
}

func (k *talk) hold(lines string) error {
	for line := range strings.Lines(strings.TrimSpace(lines)) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		if err := k.line(line); err != nil {
			return fmt.Errorf("%s: %w", line, err)
		}
	}
	return nil
}

func (k *talk) line(line string) error {
	word, rest, _ := strings.Cut(line, " ")
	switch name, sign := word[:len(word)-1], word[len(word)-1]; {
	case word == "wait":
		d, err := time.ParseDuration(rest)
		time.Sleep(d)
		return err
	case word == "took":
		return is("after "+rest, "after "+time.Since(k.began).String())
	case rest == "kill":
		return k.s.Kill()
	case rest == "restart":
		go k.s.Restart() //nolint:errcheck // what follows shows it
		return nil
	case word == "operator":
		return k.s.Signal("", rest)
	case sign == ':':
		k.began = time.Now()
		k.wires[name] = k.dial()
		return k.greet(name, rest)
	case sign == '>':
		return k.send(name, rest)
	case sign == '!':
		return k.wires[name].conn.Close()
	default:
		return k.read(name, rest)
	}
}

func (k *talk) greet(name, as string) error {
	hello := map[string]string{"hello": producer, "worker": fmt.Sprintf(consumer, name)}[as]
	if hello == "" {
		return nil
	}
	_, err := k.wires[name].try()
	return errors.Join(err, k.send(name, hello), k.read(name, `^\+OK$`))
}

func (k *talk) send(name, text string) error {
	k.began = time.Now()
	if bytes, quoted := strings.CutPrefix(text, `"`); quoted {
		text = strings.NewReplacer(`\n`, "\n", `\r`, "\r", `\xff`, "\xff").Replace(strings.TrimSuffix(bytes, `"`))
	} else {
		text = strings.ReplaceAll(text, "FILLER", strings.Repeat("x", 64<<10)) + "\r\n"
	}
	_, err := io.WriteString(k.wires[name].conn, text)
	return err
}

func (k *talk) read(name, want string) error {
	k.wires[name].conn.SetReadDeadline(time.Now().Add(time.Hour))
	got, err := k.wires[name].try()
	switch {
	case errors.Is(err, io.EOF):
		got = "close"
	case errors.Is(err, os.ErrDeadlineExceeded):
		got = "nothing"
	case err != nil:
		got = "reset"
	case want != "close" && want != "reset" && regexp.MustCompile(want).MatchString(got):
		return nil
	}
	return is(want, got)
}

func is(want, got string) error {
	if got != want {
		return fmt.Errorf("got %s", got)
	}
	return nil
}
