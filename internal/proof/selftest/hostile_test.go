package selftest_test

import (
	"bufio"
	"context"
	"hash/crc32"
	"maps"
	"net"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/conformance/explore"
	"github.com/fwpsuite/fwp/conformance/run"
	"github.com/fwpsuite/fwp/fakes/store"
	"github.com/fwpsuite/fwp/internal/base/memnet"
	"github.com/fwpsuite/fwp/internal/proof/golden"
	"github.com/fwpsuite/fwp/load"
	"github.com/fwpsuite/fwp/load/plan"
	"github.com/fwpsuite/fwp/protocols/fwp/moves"
	fwpscript "github.com/fwpsuite/fwp/protocols/fwp/script"
	fwpsuite "github.com/fwpsuite/fwp/protocols/fwp/suite"
	fwpwire "github.com/fwpsuite/fwp/protocols/fwp/wire"
	"github.com/fwpsuite/fwp/reports"
	"github.com/fwpsuite/fwp/scenarios"
)

// codes are the exit codes with which the tools end on a peer.
type codes struct{ run, explore, load int }

// none is that of a peer that never greeted.
var none = codes{reports.ExitUnreachable, reports.ExitUnreachable, reports.ExitUnreachable}

// broken is that of a peer that breaks a clause. fwpbench run does not begin where its introduction fails, and ends
// INVALID where commands get no reply.
var (
	broken      = codes{reports.ExitFindings, reports.ExitFindings, reports.ExitLoss}
	notLoaded   = codes{reports.ExitFindings, reports.ExitFindings, reports.ExitUnreachable}
	invalidLoad = codes{reports.ExitFindings, reports.ExitFindings, reports.ExitInconclusive}

	// Of a peer that never serves explore a conversation, or only slowly: that is no finding.
	unserved = codes{reports.ExitFindings, reports.ExitInconclusive, reports.ExitUnreachable}

	undecided = codes{reports.ExitInconclusive, reports.ExitInconclusive, reports.ExitInconclusive}
)

// hostilePeers are servers that are wrong on purpose: each with the exit codes of run, explore and fwpbench run. Before
// a greeting they are 4; later 1 of run and explore, and 6 of fwpbench run, where a clause is broken.
var hostilePeers = map[string]struct {
	serve func(*party)
	codes codes
}{
	// Nothing that greets.
	"silent":                    {says(""), none},
	"closes":                    {before("", "close"), none},
	"resets":                    {before("", "reset"), none},
	"a greeting without an end": {func(p *party) { p.endless("+", strings.Repeat("A", big)) }, none},
	"HI without an end":         {func(p *party) { p.endless(`+HI {"v":2,"x":"`, strings.Repeat("A", big)) }, none},
	"HI of 20 MB":               {says(`+HI {"v":2,"x":"` + strings.Repeat("A", 20*big) + "\"}\r\n"), none},
	"HTTP":                      {func(p *party) { p.line(); p.say("HTTP/1.1 400 Bad Request\r\n\r\n") }, none},
	"HTTP at once":              {says("HTTP/1.1 408 Request Timeout\r\n\r\n"), none},
	"Redis": {func(p *party) {
		p.answer(func(string, string) string { return "-ERR unknown command\r\n" })
	}, none},
	"SMTP":                  {says("220 mail.example ESMTP\r\n"), none},
	"SSH":                   {says("SSH-2.0-OpenSSH_9.9\r\n"), none},
	"a TLS alert":           {says("\x15\x03\x03\x00\x02\x02\x28"), none},
	"telnet":                {says("\xff\xfd\x18\xff\xfd\x20login: "), none},
	"noise without an end":  {func(p *party) { p.endless("\x00", p.noise(big)) }, none},
	"NUL without an end":    {func(p *party) { p.endless("\x00", strings.Repeat("\x00", big)) }, none},
	"HI of too many rounds": {says(`+HI {"v":2,"i":2000000000,"s":"salt"}` + "\r\n"), none},

	// Greetings that are wrong.
	"HI, a byte a second": {func(p *party) { p.drip(strings.Repeat(hi, 100)) }, unserved},
	"HI after 9 s":        {greetsLate, codes{reports.ExitFindings, reports.ExitInconclusive, reports.ExitLoss}},
	"HI of deep JSON": {says(`+HI {"v":2,"x":` + strings.Repeat("[", 30_000) + strings.Repeat("]", 30_000) +
		"}\r\n"), notLoaded},
	"HI of huge numbers":    {says(`+HI {"v":2e999999999,"i":1e99999999,"s":"x"}` + "\r\n"), notLoaded},
	"HI with LF alone":      {says("+HI {\"v\":2}\n"), notLoaded},
	"HI without a line end": {says("+HI {\"v\":2}"), notLoaded},
	"HI twice":              {func(p *party) { p.say(hi); greets(ok)(p) }, broken},
	"HI as a bulk of 2 GiB": {says("$2147483648\r\nHI"), notLoaded},
	"HI as a negative bulk": {says("$-5\r\n"), notLoaded},
	"HI as nested arrays":   {says(strings.Repeat("*1\r\n", 100_000)), notLoaded},
	"OK instead of HI":      {says(ok), notLoaded},
	"an error instead of HI": {says("-ERR \x1b[31mgo away\x07\u202e\r\n"),
		codes{reports.ExitFindings, reports.ExitInconclusive, reports.ExitUnreachable}},
	"answers before commands": {says(hi + strings.Repeat(ok, 1000)), broken},
	"replies all the time":    {unasked, broken},
	"one at a time":           {oneAtATime, notLoaded},

	// Ends of connections.
	"closes at HELLO": {before("HELLO", "close"), unserved},
	"resets at HELLO": {before("HELLO", "reset"), unserved},
	"closes at PUSH":  {before("PUSH", "close"), invalidLoad},
	"resets at FETCH": {before("FETCH", "reset"), invalidLoad},
	"silent at HELLO": {before("HELLO", ""), unserved},
	"never reads":     {func(p *party) { p.say(hi); time.Sleep(time.Hour) }, unserved},
	"half a reply":    {answers(func(string, string) string { return "$100\r\nhalf" }), invalidLoad},

	// Answers.
	"OK to all":          {greets(ok), broken},
	"an error to all":    {greets("-ERR no\r\n"), invalidLoad},
	"null to all":        {greets("$-1\r\n"), broken},
	"an integer to all":  {greets(":1\r\n"), broken},
	"the previous reply": {previous, broken},
	"each reply twice":   {greets(ok + ok), broken},
	"the command":        {answers(func(_, line string) string { return "+" + line + "\r\n" }), broken},
	"9 s for each reply": {slowly, unserved},
	"a byte a second": {func(p *party) {
		p.say(hi)
		p.line()
		p.say(ok)
		p.line()
		p.drip(strings.Repeat("A", 3600))
	}, broken},
	"noise":                  {func(p *party) { noise := p.noise(100); greets(noise)(p) }, broken},
	"carriage returns":       {greets(strings.Repeat("\r", 1000)), broken},
	"errors of 5 MB":         {greets("-ERR " + strings.Repeat("A", 5*big) + "\r\n"), invalidLoad},
	"errors with escapes":    {greets("-ERR \x1b[2J\x07\u202e\x9b\r\n"), invalidLoad},
	"a bulk of 2 GiB":        {greets("$2147483648\r\n"), broken},
	"a negative bulk":        {greets("$-2\r\n"), broken},
	"an unfinished bulk":     {greets("$1000\r\nabc"), invalidLoad},
	"a wrong length":         {greets("$1\r\n{}\r\n"), broken},
	"nested arrays":          {greets(strings.Repeat("*1\r\n", 100_000) + ":1\r\n"), broken},
	"an array of a billion":  {greets("*1000000000\r\n"), broken},
	"a wide array":           {greets("*65000\r\n" + strings.Repeat(":1\r\n", 65_000)), broken},
	"an integer of 1 MB":     {greets(":" + strings.Repeat("1", big) + "\r\n"), broken},
	"deep JSON":              {greets(bulk(strings.Repeat("[", 500_000) + strings.Repeat("]", 500_000))), broken},
	"wide JSON":              {greets(bulk("[" + strings.Repeat("1,", 500_000) + "1]")), broken},
	"JSON of huge numbers":   {greets(bulk(`{"jid":1e999999999,"queue":` + strings.Repeat("9", big) + `}`)), invalidLoad},
	"JSON that is not UTF-8": {greets(bulk("{\"jid\":\"\xff\xfe\"}")), broken},
	"a line without an end":  {floods("+", strings.Repeat("A", big)), undecided},
	"a bulk without an end":  {floods("$15000000\r\n", strings.Repeat("A", big)), broken},
	"replies without an end": {floods(ok, strings.Repeat(ok, 50)), broken},
	"errors without an end":  {floods("-ERR\r\n", strings.Repeat("-ERR no\r\n", 50)), broken},
	"jobs without an end":    {jobs(true), broken},
	"one job without an end": {jobs(false), broken},
	"terminate at each BEAT": {each(func(verb, _ string) string {
		if verb == "BEAT" {
			return bulk(`{"state":"terminate"}`)
		}
		return ""
	}), broken},
	"90,000 queues": {each(func(verb, _ string) string {
		if verb == "INFO" {
			return queues(90_000)
		}
		return ""
	}), broken},
	"closes after a reply":  {closing, broken},
	"escapes in every text": {escaping, broken},
	"HI of 100 MB":          {says(`+HI {"v":2,"x":"` + strings.Repeat("A", 100*big) + "\"}\r\n"), none},
	"bulks without an end":  {floods(ok, bulk(strings.Repeat("A", big/100))), broken},
}

// TestHostilePeers plays the three tools on peers that are wrong on purpose. Each ends, in bounded virtual time, with
// its exit code, and takes a bounded number of bytes of each connection. Without FWP_SLOW=1 it plays a sample.
func TestHostilePeers(t *testing.T) {
	t.Parallel()
	for i, name := range slices.Sorted(maps.Keys(hostilePeers)) {
		if !golden.Slow() && i%23 != 0 {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			peer := hostilePeers[name]
			var got codes
			for _, tool := range []struct {
				code *int
				use  func(ctx context.Context, at dialTarget) (code int, words string)
				most time.Duration
			}{
				{&got.run, playSuite, 2 * time.Hour}, {&got.explore, exploreIt, identifying + exploring + time.Second},
				{&got.load, loadIt, 10 * time.Minute},
			} {
				synctest.Test(t, func(t *testing.T) {
					began := time.Now()
					at, end := serveHostile(peer.serve)
					code, words := tool.use(t.Context(), at)
					*tool.code = code
					took := time.Since(began)
					assert.Less(t, took, tool.most)
					assert.LessOrEqual(t, at.stats.most.Load(), int64(18*big), "bytes of one connection")
					end()
					t.Log(name, "/", took, code, words)
				})
			}
			assert.Equal(t, peer.codes, got)
		})
	}
	assert.GreaterOrEqual(t, len(hostilePeers), 50)
}

// dialTarget is a peer as a target.
type dialTarget struct {
	memnet.Place
	stats *peerStats
}

// serveHostile serves connections until end is called.
func serveHostile(serve func(*party)) (at dialTarget, end func()) {
	at = dialTarget{memnet.NewPlace(), new(peerStats)}
	var served store.Group
	go served.Serve(at.MustListen(), func(nc net.Conn) {
		at.stats.open.Add(1)
		defer at.stats.open.Add(-1)
		serve(&party{nc, bufio.NewReader(nc), at.stats.conns.Add(1), at.stats})
	})
	return at, served.Close
}

// identified returns the exit code of a peer that is not an FWP server, 0 for one that may be one.
func identified(ctx context.Context, at dialTarget) (code int, words string) {
	if _, err := fwpsuite.Protocol().Identify(ctx, at, 10*time.Second); err != nil {
		return reports.ExitUnreachable, err.Error()
	}
	return 0, ""
}

// playSuite plays those scripts about HI and a fifth of the others that wait for little. The fifth is drawn by name, so
// that a new script leaves the others where they are.
func playSuite(ctx context.Context, at dialTarget) (code int, words string) {
	if code, words = identified(ctx, at); code != 0 {
		return code, words
	}
	scripts, err := fwpscript.Suite()
	if err != nil {
		return reports.ExitInternal, err.Error()
	}
	runner := &run.Runner{
		Protocol: fwpsuite.Protocol(),
		Servers:  []run.Server{{Target: at, Offers: []scenarios.Need{scenarios.NeedOpen, scenarios.NeedAlone}}},
		Quick:    true,
	}
	for _, check := range conformance.Scripts(scripts...) {
		d := check.Describe()
		drawn := crc32.ChecksumIEEE([]byte(d.ID))%5 == 0 || strings.HasPrefix(d.ID, "hello/hi-")
		if drawn && d.Wait <= conformance.QuickWait {
			runner.Checks = append(runner.Checks, check)
		}
	}
	return runner.Run(ctx).Outcome(reports.ExitOptions{}).Values()
}

const (
	identifying = 20 * time.Second // a greeting that is late, and an answer to HELLO
	exploring   = time.Minute
)

// exploreIt explores with few commands.
func exploreIt(ctx context.Context, at dialTarget) (code int, words string) {
	if code, words = identified(ctx, at); code != 0 {
		return code, words
	}
	x := explore.Explorer{
		Subject: moves.New(), Target: at, Seed: 1, Steps: 300, Time: exploring, Findings: 5, Shrinking: 10 * time.Second,
	}
	e := &reports.Exploration{}
	r := x.Run(ctx)
	e.Commands, e.States = r.Commands, r.Coverage.States
	for _, f := range r.Findings {
		if len(f.Got) > 10_000 || len(f.What) > 10_000 || len(f.Script) > 1<<20 {
			return reports.ExitInternal, "a finding is too long: " + f.Rule
		}
		e.Findings = append(e.Findings, reports.Explored{Finding: reports.Finding{Clause: f.Clause, Verdict: reports.Fail}})
		words += f.Rule + " "
	}
	code, outcome := e.Outcome(reports.ExitOptions{}).Values()
	return code, words + outcome
}

// loadIt puts a small load on a peer.
func loadIt(ctx context.Context, at dialTarget) (code int, words string) {
	if code, words = identified(ctx, at); code != 0 {
		return code, words
	}
	result := load.Run(ctx, load.Config{
		Workload: plan.Workload{
			Producers: 3, Consumers: 3, Rate: 50, Duration: plan.Duration(3 * time.Second),
			Queues: plan.Queues{Number: 1}, Payload: plan.Constant(20),
		},
		Seed: 1, Run: "test", Coarse: true, Loops: 2, ClauseOf: fwpsuite.ClauseOf, Protocol: fwpwire.New(""),
		Dial: at.Dial,
	})
	code, words = result.Report.Outcome(reports.ExitOptions{}).Values()
	if len(words) > 10_000 {
		return reports.ExitInternal, "the outcome is too long"
	}
	return code, words
}
