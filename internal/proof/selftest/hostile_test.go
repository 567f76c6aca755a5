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

// unreachableCodes is that of a peer that never greeted.
var unreachableCodes = codes{reports.ExitUnreachable, reports.ExitUnreachable, reports.ExitUnreachable}

// broken is that of a peer that breaks a clause. fwpbench run does not begin where its introduction fails, and ends
// INVALID where commands get no reply.
var (
	findingCodes = codes{reports.ExitFindings, reports.ExitFindings, reports.ExitLoss}
	noLoadCodes  = codes{reports.ExitFindings, reports.ExitFindings, reports.ExitUnreachable}
	invalidCodes = codes{reports.ExitFindings, reports.ExitFindings, reports.ExitInconclusive}

	// Of a peer that never serves explore a conversation, or only slowly: that is no finding.
	unservedCodes = codes{reports.ExitFindings, reports.ExitInconclusive, reports.ExitUnreachable}

	inconclusiveCodes = codes{reports.ExitInconclusive, reports.ExitInconclusive, reports.ExitInconclusive}
)

// hostilePeers are servers that are wrong on purpose: each with the exit codes of run, explore and fwpbench run. Before
// a greeting they are 4; later 1 of run and explore, and 6 of fwpbench run, where a clause is broken.
var hostilePeers = map[string]struct {
	serve func(*party)
	codes codes
}{
	// Nothing that greets.
	"silent":                    {sayText(""), unreachableCodes},
	"closes":                    {endBefore("", "close"), unreachableCodes},
	"resets":                    {endBefore("", "reset"), unreachableCodes},
	"a greeting without an end": {func(p *party) { p.endless("+", strings.Repeat("A", bigSize)) }, unreachableCodes},
	"HI without an end":         {func(p *party) { p.endless(`+HI {"v":2,"x":"`, strings.Repeat("A", bigSize)) }, unreachableCodes},
	"HI of 20 MB":               {sayText(`+HI {"v":2,"x":"` + strings.Repeat("A", 20*bigSize) + "\"}\r\n"), unreachableCodes},
	"HTTP":                      {func(p *party) { p.line(); p.say("HTTP/1.1 400 Bad Request\r\n\r\n") }, unreachableCodes},
	"HTTP at once":              {sayText("HTTP/1.1 408 Request Timeout\r\n\r\n"), unreachableCodes},
	"Redis": {func(p *party) {
		p.answer(func(string, string) string { return "-ERR unknown command\r\n" })
	}, unreachableCodes},
	"SMTP":                  {sayText("220 mail.example ESMTP\r\n"), unreachableCodes},
	"SSH":                   {sayText("SSH-2.0-OpenSSH_9.9\r\n"), unreachableCodes},
	"a TLS alert":           {sayText("\x15\x03\x03\x00\x02\x02\x28"), unreachableCodes},
	"telnet":                {sayText("\xff\xfd\x18\xff\xfd\x20login: "), unreachableCodes},
	"noise without an end":  {func(p *party) { p.endless("\x00", p.noise(bigSize)) }, unreachableCodes},
	"NUL without an end":    {func(p *party) { p.endless("\x00", strings.Repeat("\x00", bigSize)) }, unreachableCodes},
	"HI of too many rounds": {sayText(`+HI {"v":2,"i":2000000000,"s":"salt"}` + "\r\n"), unreachableCodes},

	// Greetings that are wrong.
	"HI, a byte a second": {func(p *party) { p.drip(strings.Repeat(hi, 100)) }, unservedCodes},
	"HI after 9 s":        {greetsLate, codes{reports.ExitFindings, reports.ExitInconclusive, reports.ExitLoss}},
	"HI of deep JSON": {sayText(`+HI {"v":2,"x":` + strings.Repeat("[", 30_000) + strings.Repeat("]", 30_000) +
		"}\r\n"), noLoadCodes},
	"HI of huge numbers":    {sayText(`+HI {"v":2e999999999,"i":1e99999999,"s":"x"}` + "\r\n"), noLoadCodes},
	"HI with LF alone":      {sayText("+HI {\"v\":2}\n"), noLoadCodes},
	"HI without a line end": {sayText("+HI {\"v\":2}"), noLoadCodes},
	"HI twice":              {func(p *party) { p.say(hi); greets(ok)(p) }, findingCodes},
	"HI as a bulk of 2 GiB": {sayText("$2147483648\r\nHI"), noLoadCodes},
	"HI as a negative bulk": {sayText("$-5\r\n"), noLoadCodes},
	"HI as nested arrays":   {sayText(strings.Repeat("*1\r\n", 100_000)), noLoadCodes},
	"OK instead of HI":      {sayText(ok), noLoadCodes},
	"an error instead of HI": {sayText("-ERR \x1b[31mgo away\x07\u202e\r\n"),
		codes{reports.ExitFindings, reports.ExitInconclusive, reports.ExitUnreachable}},
	"answers before commands": {sayText(hi + strings.Repeat(ok, 1000)), findingCodes},
	"replies all the time":    {unasked, findingCodes},
	"one at a time":           {writeBytes, noLoadCodes},

	// Ends of connections.
	"closes at HELLO": {endBefore("HELLO", "close"), unservedCodes},
	"resets at HELLO": {endBefore("HELLO", "reset"), unservedCodes},
	"closes at PUSH":  {endBefore("PUSH", "close"), invalidCodes},
	"resets at FETCH": {endBefore("FETCH", "reset"), invalidCodes},
	"silent at HELLO": {endBefore("HELLO", ""), unservedCodes},
	"never reads":     {func(p *party) { p.say(hi); time.Sleep(time.Hour) }, unservedCodes},
	"half a reply":    {answers(func(string, string) string { return "$100\r\nhalf" }), invalidCodes},

	// Answers.
	"OK to all":          {greets(ok), findingCodes},
	"an error to all":    {greets("-ERR no\r\n"), invalidCodes},
	"null to all":        {greets("$-1\r\n"), findingCodes},
	"an integer to all":  {greets(":1\r\n"), findingCodes},
	"the previous reply": {previous, findingCodes},
	"each reply twice":   {greets(ok + ok), findingCodes},
	"the command":        {answers(func(_, line string) string { return "+" + line + "\r\n" }), findingCodes},
	"9 s for each reply": {slowDown, unservedCodes},
	"a byte a second": {func(p *party) {
		p.say(hi)
		p.line()
		p.say(ok)
		p.line()
		p.drip(strings.Repeat("A", 3600))
	}, findingCodes},
	"noise":                  {func(p *party) { noise := p.noise(100); greets(noise)(p) }, findingCodes},
	"carriage returns":       {greets(strings.Repeat("\r", 1000)), findingCodes},
	"errors of 5 MB":         {greets("-ERR " + strings.Repeat("A", 5*bigSize) + "\r\n"), invalidCodes},
	"errors with escapes":    {greets("-ERR \x1b[2J\x07\u202e\x9b\r\n"), invalidCodes},
	"a bulk of 2 GiB":        {greets("$2147483648\r\n"), findingCodes},
	"a negative bulk":        {greets("$-2\r\n"), findingCodes},
	"an unfinished bulk":     {greets("$1000\r\nabc"), invalidCodes},
	"a wrong length":         {greets("$1\r\n{}\r\n"), findingCodes},
	"nested arrays":          {greets(strings.Repeat("*1\r\n", 100_000) + ":1\r\n"), findingCodes},
	"an array of a billion":  {greets("*1000000000\r\n"), findingCodes},
	"a wide array":           {greets("*65000\r\n" + strings.Repeat(":1\r\n", 65_000)), findingCodes},
	"an integer of 1 MB":     {greets(":" + strings.Repeat("1", bigSize) + "\r\n"), findingCodes},
	"deep JSON":              {greets(bulk(strings.Repeat("[", 500_000) + strings.Repeat("]", 500_000))), findingCodes},
	"wide JSON":              {greets(bulk("[" + strings.Repeat("1,", 500_000) + "1]")), findingCodes},
	"JSON of huge numbers":   {greets(bulk(`{"jid":1e999999999,"queue":` + strings.Repeat("9", bigSize) + `}`)), invalidCodes},
	"JSON that is not UTF-8": {greets(bulk("{\"jid\":\"\xff\xfe\"}")), findingCodes},
	"a line without an end":  {floods("+", strings.Repeat("A", bigSize)), inconclusiveCodes},
	"a bulk without an end":  {floods("$15000000\r\n", strings.Repeat("A", bigSize)), findingCodes},
	"replies without an end": {floods(ok, strings.Repeat(ok, 50)), findingCodes},
	"errors without an end":  {floods("-ERR\r\n", strings.Repeat("-ERR no\r\n", 50)), findingCodes},
	"jobs without an end":    {jobs(true), findingCodes},
	"one job without an end": {jobs(false), findingCodes},
	"terminate at each BEAT": {answerEach(func(verb, _ string) string {
		if verb == "BEAT" {
			return bulk(`{"state":"terminate"}`)
		}
		return ""
	}), findingCodes},
	"90,000 queues": {answerEach(func(verb, _ string) string {
		if verb == "INFO" {
			return queues(90_000)
		}
		return ""
	}), findingCodes},
	"closes after a reply":  {closeConn, findingCodes},
	"escapes in every text": {escaping, findingCodes},
	"HI of 100 MB":          {sayText(`+HI {"v":2,"x":"` + strings.Repeat("A", 100*bigSize) + "\"}\r\n"), unreachableCodes},
	"bulks without an end":  {floods(ok, bulk(strings.Repeat("A", bigSize/100))), findingCodes},
}

// TestHostilePeers plays the three tools on peers that are wrong on purpose. Each ends, in bounded virtual time, with
// its exit code, and takes a bounded number of bytes of each connection. Without FWP_SLOW=1 it plays a sample.
func TestHostilePeers(t *testing.T) {
	t.Parallel()
	for i, name := range slices.Sorted(maps.Keys(hostilePeers)) {
		if !golden.IsSlow() && i%23 != 0 {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			entry := hostilePeers[name]
			var got codes
			for _, tool := range []struct {
				code  *int
				use   func(ctx context.Context, at dialTarget) (code int, words string)
				limit time.Duration
			}{
				{&got.run, playSuite, 2 * time.Hour}, {&got.explore, exploreTarget, identifyLimit + exploreLimit + askLimit},
				{&got.load, loadTarget, 10 * time.Minute},
			} {
				synctest.Test(t, func(t *testing.T) {
					begin := time.Now()
					at, end := serveHostile(entry.serve)
					code, words := tool.use(t.Context(), at)
					*tool.code = code
					elapsed := time.Since(begin)
					assert.Less(t, elapsed, tool.limit)
					assert.LessOrEqual(t, at.stats.maxBytes.Load(), int64(18*bigSize), "bytes of one connection")
					end()
					t.Log(name, "/", elapsed, code, words)
				})
			}
			assert.Equal(t, entry.codes, got)
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
	var group store.Group
	go group.Serve(at.MustListen(), func(nc net.Conn) {
		at.stats.openConns.Add(1)
		defer at.stats.openConns.Add(-1)
		serve(&party{nc, bufio.NewReader(nc), at.stats.conns.Add(1), at.stats})
	})
	return at, group.Close
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
		Suite:   fwpsuite.Protocol(),
		Servers: []run.Server{{Target: at, Offers: []scenarios.Need{scenarios.NeedOpen, scenarios.NeedAlone}}},
		Quick:   true,
	}
	for _, check := range conformance.Scripts(scripts...) {
		d := check.Describe()
		isDrawn := crc32.ChecksumIEEE([]byte(d.ID))%5 == 0 || strings.HasPrefix(d.ID, "hello/hi-")
		if isDrawn && d.Wait <= conformance.QuickWait {
			runner.Checks = append(runner.Checks, check)
		}
	}
	return runner.Run(ctx).Outcome(reports.ExitOptions{}).Values()
}

const (
	identifyLimit = 20 * time.Second // a greeting that is late, and an answer to HELLO
	exploreLimit  = time.Minute
	askLimit      = 10 * time.Second // what does not serve when an exploration is over is asked for longer
)

// exploreTarget explores with few commands.
func exploreTarget(ctx context.Context, at dialTarget) (code int, words string) {
	if code, words = identified(ctx, at); code != 0 {
		return code, words
	}
	x := explore.Explorer{
		Alphabet: moves.New(), Target: at, Seed: 1, Steps: 300, Time: exploreLimit, Findings: 5, Shrinking: 10 * time.Second,
	}
	e := &reports.Exploration{}
	r := x.Run(ctx)
	e.Commands, e.States = r.Commands, r.Coverage.States
	for _, f := range r.Findings {
		if len(f.Got) > 10_000 || len(f.Detail) > 10_000 || len(f.Script) > 1<<20 {
			return reports.ExitInternal, "a finding is too long: " + f.Rule
		}
		e.Findings = append(e.Findings, reports.ExplorationFinding{Finding: reports.Finding{Clause: f.Clause, Verdict: reports.Fail}})
		words += f.Rule + " "
	}
	code, outcome := e.Outcome(reports.ExitOptions{}).Values()
	return code, words + outcome
}

// loadTarget puts a small load on a peer.
func loadTarget(ctx context.Context, at dialTarget) (code int, words string) {
	if code, words = identified(ctx, at); code != 0 {
		return code, words
	}
	result := load.Run(ctx, load.Config{
		Workload: plan.Workload{
			Producers: 3, Consumers: 3, Rate: 50, Duration: plan.Duration(3 * time.Second),
			Queues: plan.Queues{Number: 1}, Payload: plan.Constant(20),
		},
		Seed: 1, Run: "test", CoarseTimers: true, Loops: 2, ClauseOf: fwpsuite.ClauseOf, Protocol: fwpwire.New(""),
		Dial: at.Dial,
	})
	code, words = result.Report.Outcome(reports.ExitOptions{}).Values()
	if len(words) > 10_000 {
		return reports.ExitInternal, "the outcome is too long"
	}
	return code, words
}
