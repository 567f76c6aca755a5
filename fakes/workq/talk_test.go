package workq_test

import (
	_ "embed"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	fakeworkq "github.com/fwpsuite/fwp/fakes/workq"
	"github.com/fwpsuite/fwp/internal/base/memnet"
	"github.com/fwpsuite/fwp/internal/transcript"
)

// Conversations have $1, $2 and $3 for ids, and x{40000} for so many times x.
//
//go:embed testdata/conversations.txt
var conversationsText string

var (
	repeatPattern = regexp.MustCompile(`x\{(\d+)\}`)
	longPattern   = regexp.MustCompile(`x{100,}`)
)

// conversations are those in which variations show, by name.
func conversations(t *testing.T) map[string][]transcript.Event {
	t.Helper()
	text := repeatPattern.ReplaceAllStringFunc(conversationsText, func(part string) string {
		n, err := strconv.Atoi(part[2 : len(part)-1])
		require.NoError(t, err)
		return strings.Repeat("x", n)
	})
	all, err := transcript.ParseAll(strings.NewReplacer("$1", id1, "$2", id2, "$3", id3).Replace(text))
	require.NoError(t, err)
	return all
}

// play returns what is said in a conversation with a server, in virtual time.
func play(t *testing.T, events []transcript.Event, config fakeworkq.Config) (result string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		place := memnet.NewPlace()
		s := fakeworkq.NewServer(config)
		go s.Serve(place.MustListen())
		k := transcript.Clients{Log: transcript.NewLog(), Dial: place.MustDial, Wait: synctest.Wait}
		k.Hold(events)
		time.Sleep(30 * time.Second)
		s.Close()
		synctest.Wait()
		k.Close()
		result = transcript.Text(k.Events())
	})
	result = strings.NewReplacer(id1, "$1", id2, "$2", id3, "$3").Replace(result)
	return longPattern.ReplaceAllStringFunc(result, func(run string) string { return fmt.Sprintf("x{%d}", len(run)) })
}
