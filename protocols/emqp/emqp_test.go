package emqp_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/protocols/emqp"
)

// frames splits a text at its bars.
func frames(text string) [][]byte { return bytes.Split([]byte(text), []byte("|")) }

// What is built is what the tables have, and is parsed as it was built.
func TestTables(t *testing.T) {
	t.Parallel()
	nohaste := emqp.Headers{{Name: emqp.NoHaste}}
	queues := []emqp.Queue{{10, "a"}, {0, `b"`}}
	headers := emqp.Headers{{emqp.ReplyRequested, ""}, {emqp.RetryCount, "3"}}
	for want, m := range map[string]emqp.Message{
		"|eMQP/1.0|ACK|i|other":                                emqp.Ack("i", "other"),
		"|eMQP/1.0|REPLY|i|text":                               emqp.Reply("i", "text"),
		"|eMQP/1.0|HEARTBEAT|i|1700000000":                     emqp.Heartbeat("i", time.Unix(1700000000, 9)),
		"|eMQP/1.0|DISCONNECT|i":                               emqp.Disconnect("i"),
		"|eMQP/1.0|KBAI|i":                                     emqp.Kbai("i"),
		"|eMQP/1.0|REQUEST|i|q|reply-requested,retry-count:3|": emqp.Request("i", "q", headers, ""),
		"|eMQP/1.0|PUBLISH|i|t||m":                             emqp.Publish("i", "t", nil, "m"),
		"|eMQP/1.0|PUBLISH|i|t|m":                              emqp.PublishBare("i", "t", "m"),
		"|eMQP/1.0|SCHEDULE|i|q|nohaste|m":                     emqp.Schedule("i", "q", nohaste, "m"),
		"|eMQP/1.0|UNSCHEDULE|i|q||m":                          emqp.Unschedule("i", "q", nil, "m"),
		"|eMQP/1.0|INFORM|i||scheduler":                        emqp.InformScheduler("i"),
		`|eMQP/1.0|INFORM|i|[[10,"a"],[0,"b\""]]|worker`:       emqp.InformWorker("i", queues...),
		"|eMQP/1.0|READY|i":                                    emqp.Ready("i"),
	} {
		assert.Equal(t, want, string(bytes.Join(m.Frames(), []byte("|"))))
		got, err := emqp.Parse(frames(want))
		require.NoError(t, err, want)
		assert.Equal(t, m, got)
		assert.NotEmpty(t, emqp.Shapes(m.Command))
	}
	assert.Empty(t, emqp.Shapes("KBYE"))
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]struct {
		rule  emqp.Rule
		frame int
	}{
		"x|eMQP/1.0|READY|i":                   {emqp.RuleEmpty, 0},
		"":                                     {emqp.RuleVersion, 1},
		"|eMQP/1.1|READY|i":                    {emqp.RuleVersion, 1},
		"|emqp/1.0|READY|i":                    {emqp.RuleVersion, 1},
		"|eMQP/1.0":                            {emqp.RuleCommand, 2},
		"|eMQP/1.0|ready|i":                    {emqp.RuleCommand, 2},
		"|eMQP/1.0|KBYE|i":                     {emqp.RuleCommand, 2},
		"|eMQP/1.0|READY":                      {emqp.RuleID, 3},
		"|eMQP/1.0|READY|":                     {emqp.RuleID, 3},
		"|eMQP/1.0|READY|i|":                   {emqp.RuleFrames, 4},
		"|eMQP/1.0|ACK|i":                      {emqp.RuleFrames, 4},
		"|eMQP/1.0|ACK|i|":                     {emqp.RuleID, 4},
		"|eMQP/1.0|ACK|i|j|k":                  {emqp.RuleFrames, 5},
		"|eMQP/1.0|REPLY|i":                    {emqp.RuleFrames, 4},
		"|eMQP/1.0|HEARTBEAT|i":                {emqp.RuleFrames, 4},
		"|eMQP/1.0|HEARTBEAT|i|":               {emqp.RuleTimestamp, 4},
		"|eMQP/1.0|HEARTBEAT|i|now":            {emqp.RuleTimestamp, 4},
		"|eMQP/1.0|HEARTBEAT|i|1.":             {emqp.RuleTimestamp, 4},
		"|eMQP/1.0|REQUEST|i|q|m":              {emqp.RuleFrames, 6},
		"|eMQP/1.0|REQUEST|i|q|h|m|more":       {emqp.RuleFrames, 7},
		"|eMQP/1.0|REQUEST|i|q|,|m":            {emqp.RuleHeaders, 5},
		"|eMQP/1.0|REQUEST|i|q| |m":            {emqp.RuleNoHeaders, 5},
		"|eMQP/1.0|REQUEST|i|q|{|m":            {emqp.RuleHeaders, 5},
		"|eMQP/1.0|REQUEST|i|q|nohaste|m":      {emqp.RuleHeaders, 5},
		"|eMQP/1.0|REQUEST|i|q|retry-count|m":  {emqp.RuleHeaders, 5},
		"|eMQP/1.0|REQUEST|i|q|timeout:-1|m":   {emqp.RuleHeaders, 5},
		"|eMQP/1.0|REQUEST|i|q|guarantee:3|m":  {emqp.RuleHeaders, 5},
		"|eMQP/1.0|SCHEDULE|i|q|guarantee|m":   {emqp.RuleHeaders, 5},
		"|eMQP/1.0|PUBLISH|i|t":                {emqp.RuleFrames, 5},
		"|eMQP/1.0|INFORM|i|worker":            {emqp.RuleFrames, 5},
		"|eMQP/1.0|INFORM|i|[[10,\"q\"]]|boss": {emqp.RuleType, 5},
		"|eMQP/1.0|INFORM|i|10,default|worker": {emqp.RuleQueues, 4},
	} {
		_, err := emqp.Parse(frames(text))
		var wrong *emqp.Error
		require.ErrorAs(t, err, &wrong, text)
		assert.Equal(t, want.rule, wrong.Rule, err.Error())
		assert.Equal(t, want.frame, wrong.Frame, err.Error())
	}
	_, err := emqp.Parse(nil)
	require.Error(t, err)
}

func TestQueues(t *testing.T) {
	t.Parallel()
	email := []emqp.Queue{{40, "email"}}
	pair := []emqp.Queue{{40, "email"}, {-1, "a'b"}}
	for text, want := range map[string][]emqp.Queue{
		"[40, 'email']": email, `[40,"email"]`: email, `[[40,"email"]]`: email, `[ [ 40 , "email" ] ]`: email,
		`[40, 'email'], [-1, "a'b"]`: pair, `[[40,"email"],[-1,"a'b"]]`: pair, "": nil, "[]": nil,
	} {
		got, err := emqp.ParseQueues(text)
		require.NoError(t, err, text)
		assert.Equal(t, want, got, text)
	}
	for _, text := range []string{
		"email", "40", "[40]", "[40,]", "[40,email]", "[,'email']", "[4.5,'email']", "[40,'email'", "[40,'email",
		"[[40,'email']", "[40,'email']]", "[40,'email'],", "[40,'email'] [40,'email']", `[40,"\x"]`, `[40,'a\'b']`,
		"[[]]",
	} {
		_, err := emqp.ParseQueues(text)
		assert.Error(t, err, text)
	}
}

func TestHeaders(t *testing.T) {
	t.Parallel()
	h, err := emqp.ParseHeaders("reply-requested, retry-count:3,guarantee:False,x-own:a:b")
	require.NoError(t, err)
	require.NoError(t, h.Check(emqp.REQUEST))
	assert.True(t, h.Has(emqp.ReplyRequested))
	assert.False(t, h.Has(emqp.Guarantee))
	assert.False(t, h.Has(emqp.NoHaste))
	value, ok := h.Get("x-own")
	assert.True(t, ok)
	assert.Equal(t, "a:b", value)
	assert.Equal(t, "reply-requested,retry-count:3,guarantee:False,x-own:a:b", h.String())
	h, err = emqp.ParseHeaders(`{"timeout":3,"guarantee":true}`)
	require.NoError(t, err)
	require.NoError(t, h.Check(emqp.REQUEST))
	assert.Equal(t, emqp.Headers{{"guarantee", "true"}, {"timeout", "3"}}, h)
	h, err = emqp.ParseHeaders("{}")
	require.NoError(t, err)
	assert.Empty(t, h)
}

// Whatever is parsed is built again as it was.
func FuzzParse(f *testing.F) {
	f.Add("|eMQP/1.0|INFORM|i|[[10,\"default\"]]|worker")
	f.Add("|eMQP/1.0|REQUEST|i|q|reply-requested,timeout:3|m")
	f.Add("|eMQP/1.0|INFORM|i|[40, 'email']|worker")
	f.Fuzz(func(t *testing.T, text string) {
		in := frames(text)
		m, err := emqp.Parse(in)
		if wrong, ok := errors.AsType[*emqp.Error](err); ok {
			assert.LessOrEqual(t, wrong.Frame, len(in))
			return
		}
		require.NoError(t, err)
		assert.Equal(t, text, string(bytes.Join(m.Frames(), []byte("|"))))
		if q, err := emqp.ParseQueues(text); err == nil && !strings.ContainsRune(text, '\ufffd') {
			other, err := emqp.ParseQueues(emqp.FormatQueues(q...))
			require.NoError(t, err)
			assert.Equal(t, q, other)
		}
	})
}

// TestMend: which frames are certainly a message, although they are not as the document has them.
func TestMend(t *testing.T) {
	t.Parallel()
	for from, want := range map[string]string{
		"|eMQP/1.1|KBAI|1":                   "|eMQP/1.0|KBAI|1",
		"eMQP/1.0|KBAI|1":                    "|eMQP/1.0|KBAI|1",
		"w||eMQP/1.0|REQUEST|1|q||x":         "|eMQP/1.0|REQUEST|1|q||x",
		"|eMQP/1.0|REPLY|1|x|w":              "|eMQP/1.0|REPLY|1|x",
		"|eMQP/1.0|HEARTBEAT|1":              "|eMQP/1.0|HEARTBEAT|1|0.0",
		"|eMQP/1.0|HEARTBEAT|1|today":        "|eMQP/1.0|HEARTBEAT|1|0.0",
		"|eMQP/1.1|HEARTBEAT|1|1600000000|x": "|eMQP/1.0|HEARTBEAT|1|1600000000",
		"|eMQP/1.0|KBAI":                     "|eMQP/1.0|KBAI|\x00none",
		"|eMQP/1.0|REPLY||x":                 "|eMQP/1.0|REPLY|\x00none|x",
		"|eMQP/1.0|ACK|1":                    "|eMQP/1.0|ACK|\x00none|1",
		"|eMQP/1.0|UNSCHEDULE|1|q|nohaste|x": "|eMQP/1.0|UNSCHEDULE|1|q||x",
		"|eMQP/1.0|REQUEST|1|q|":             "", // one frame is missing
		"|eMQP/1.0|PUBLISH|1|q||x|y":         "", // which of the two tables is open
		"|eMQP/1.0|KBYE|1":                   "",
		"|FWP/1.0|KBAI|1":                    "",
		"KBAI|1":                             "",
		"":                                   "",
	} {
		mended := frames(from)
		for _, err := emqp.Parse(mended); err != nil && mended != nil; _, err = emqp.Parse(mended) {
			mended = emqp.Mend(mended)
		}
		assert.Equal(t, want, string(bytes.Join(mended, []byte("|"))), from)
	}
}
