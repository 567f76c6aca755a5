package selftest

import (
	"bufio"
	"math"
	"math/rand/v2"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/conformance/run"
	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/fakes/store"
	"github.com/fwpsuite/fwp/internal/base/memnet"
	"github.com/fwpsuite/fwp/internal/proof/golden"
	"github.com/fwpsuite/fwp/internal/registry"
	"github.com/fwpsuite/fwp/protocols/fwp"
	fwpsuite "github.com/fwpsuite/fwp/protocols/fwp/suite"
	"github.com/fwpsuite/fwp/reports"
)

// What a server earns that greets as the specification wants it, and no more.
const (
	earnedByHI    = "FWP-HI-01 FWP-HI-02 FWP-HI-03"
	earnedByHELLO = earnedByHI + " FWP-HI-04 FWP-HI-05"
)

// TestNoServers plays the whole suite on what is no server, from the first byte on or
// after a correct greeting. It comes to its end, nothing is passed that was not earned,
// and as none of them ever changes, none is found dead. What the same ones earn from
// each check alone is in TestImpostors. Without FWP_SLOW=1 each has a sixth of the scripts, and all that decide the
// clauses that must be found broken.
func TestNoServers(t *testing.T) {
	t.Parallel()
	const hi, ok = `+HI {"v":2}`, "+OK"
	tests := map[string]struct {
		serve    func(net.Conn)
		passes   string
		breaches string // clauses that must be found broken
	}{
		"silent":  {impostor{}.serve, "", "FWP-HI-01"},
		"closing": {impostor{answer: "close"}.serve, "", "FWP-HI-01"},
		"OK":      {impostor{answer: ok}.serve, "", "FWP-HI-01"},
		"ERR":     {impostor{answer: "-ERR no"}.serve, "", "FWP-HI-01"},
		"random":  {noise("", ""), "", ""},
		"HI, closing": {
			impostor{greeting: hi, answer: "close"}.serve, earnedByHI, "FWP-HELLO-04 FWP-HELLO-15 FWP-HELLO-16",
		},
		"HI, silent":         {impostor{greeting: hi}.serve, earnedByHI, "FWP-RESP-06"},
		"HI, OK":             {impostor{greeting: hi, answer: ok}.serve, earnedByHELLO, "FWP-HELLO-04"},
		"HI, ERR":            {impostor{greeting: hi, answer: "-ERR no"}.serve, earnedByHI, "FWP-HELLO-03"},
		"HI, random":         {noise(hi, ""), earnedByHI, ""},
		"HI, HELLO, silent":  {impostor{greeting: hi, welcome: ok}.serve, earnedByHELLO, "FWP-RESP-06"},
		"HI, HELLO, closing": {impostor{hi, ok, "close"}.serve, earnedByHELLO, "FWP-STATE-13"},
		"HI, HELLO, OK":      {impostor{hi, ok, ok}.serve, earnedByHELLO, "FWP-FETCH-01 FWP-INFO-01"},
		"HI, HELLO, ERR":     {impostor{hi, ok, "-ERR no"}.serve, earnedByHELLO, "FWP-PUSH-01"},
		"HI, HELLO, random":  {noise(hi, ok), earnedByHELLO, ""},
		"FETCH always null":  {barren, earnedByHELLO + earnedByAnswers, "FWP-FETCH-08 FWP-PUSH-01"},
	}
	scripts := light(suite(t))
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			report := against(t, test.serve, selectChecks(scripts, name, test.breaches+" FWP-HELLO-15 FWP-HELLO-16"))
			for _, check := range report.Checks {
				checkPasses(t, check, test.passes)
				assert.NotEqual(t, reports.Crash, check.Verdict, check.ID)
			}
			checkBroken(t, report, test.passes, test.breaches)
		})
	}
}

// selectChecks returns a sixth of the scripts, drawn by their names and that of a server, and all that decide one of these
// clauses; with FWP_SLOW=1 all.
func selectChecks(scripts []conformance.Check, server, clauses string) (selection []conformance.Check) {
	ids := strings.Fields(clauses)
	for _, s := range scripts {
		decides := slices.ContainsFunc(Clauses(s), func(id string) bool { return slices.Contains(ids, id) })
		if golden.IsSlow() || hash(server, s.Describe().ID)%6 == 0 || decides {
			selection = append(selection, s)
		}
	}
	return selection
}

// checkBroken asserts that a run passes nothing that must hold, save what is earned, that
// it finds these clauses broken, and no crash.
func checkBroken(t *testing.T, report *reports.Report, passes, breaches string) {
	t.Helper()
	rest := strings.Fields(breaches)
	for _, c := range report.Clauses {
		assert.NotEqual(t, reports.Crash, c.Verdict, c.ID)
		if c.Verdict == reports.Pass && c.Level.BreachVerdict() == reports.Fail {
			assert.Contains(t, strings.Fields(passes), c.ID, "the run passes it, though this server does "+
				"nothing: make the check stricter, or list the clause with those that are earned")
		}
		if c.Verdict == reports.Fail {
			rest = slices.DeleteFunc(rest, func(id string) bool { return id == c.ID })
		}
	}
	assert.Empty(t, rest, "clauses that no check found broken")
}

// earnedByAnswers is what a server earns besides that answers each command by its verb.
const earnedByAnswers = " FWP-LINK-02 FWP-LINK-03 FWP-FRAME-05 FWP-RESP-01 FWP-RESP-07 FWP-HELLO-03 FWP-HELLO-11 " +
	"FWP-HELLO-15 FWP-HELLO-16 FWP-BEAT-01 FWP-INFO-01 FWP-FLUSH-01 FWP-END-02 FWP-STATE-16"

// barren answers each command as if it succeeded, and never has a job.
func barren(nc net.Conn) {
	defer nc.Close()
	answers := map[string]string{fwp.INFO: "$2\r\n{}", fwp.FETCH: "$-1"}
	write(nc, `+HI {"v":2}`)
	for in := bufio.NewScanner(nc); in.Scan(); {
		verb := fwp.SplitCommand(in.Bytes()).Verb
		answer, special := answers[verb]
		if !special {
			answer = "+OK"
		}
		if verb == fwp.FETCH {
			time.Sleep(2 * time.Second)
		}
		if write(nc, answer); verb == fwp.END {
			return
		}
	}
}

// TestNoise is TestNoServers with each check by itself, for what TestImpostors has not. Without FWP_SLOW=1 each check
// has one of the two servers.
func TestNoise(t *testing.T) {
	t.Parallel()
	for i, script := range suite(t) {
		t.Run(script.Describe().ID, func(t *testing.T) {
			t.Parallel()
			checks := []conformance.Check{script}
			if golden.IsSlow() || i%2 == 0 {
				checkPasses(t, against(t, noise("", ""), checks).Checks[0], "")
			}
			if golden.IsSlow() || i%2 == 1 {
				checkPasses(t, against(t, noise(`+HI {"v":2}`, "+OK"), checks).Checks[0], earnedByHELLO)
			}
		})
	}
}

// noise answers with random bytes, which are the same in every run.
func noise(greeting, welcome string) func(net.Conn) {
	var connections atomic.Uint64
	return func(nc net.Conn) {
		defer nc.Close()
		random := rand.New(rand.NewPCG(4711, connections.Add(1)))
		say := func(line string) {
			if line != "" {
				write(nc, line)
				return
			}
			buf := make([]byte, 1+random.IntN(100))
			for i := range buf {
				buf[i] = byte(random.Uint32())
			}
			_, _ = nc.Write(buf) // the read that follows will fail too
		}
		say(greeting)
		for in := bufio.NewScanner(nc); in.Scan(); {
			if strings.HasPrefix(in.Text(), fwp.HELLO) {
				say(welcome)
			} else {
				say("")
			}
		}
	}
}

// against plays scripts on what serves connections like this. It promises everything,
// and has a password too.
func against(t *testing.T, serve func(net.Conn), scripts []conformance.Check) (report *reports.Report) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		t.Helper()
		begin, place := time.Now(), memnet.NewPlace()
		var group store.Group
		go group.Serve(place.MustListen(), serve)
		openServer, protectedServer := impostor{}.offer(place), impostor{greeting: `"s"`}.offer(place)
		servers := []run.Server{openServer, protectedServer}
		report = (&run.Runner{Suite: fwpsuite.Protocol(), Servers: servers, Checks: scripts,
			Virtual: true}).Run(t.Context())
		group.Close()
		assert.Empty(t, report.Internal)
		assert.Less(t, time.Since(begin), time.Hour, "the suite hung")
	})
	return report
}

// checkPasses asserts that a check passes nothing that must hold, save these clauses.
func checkPasses(t *testing.T, check reports.Check, passes string) {
	t.Helper()
	for _, c := range check.Clauses {
		if c.Verdict == reports.Pass && c.Level.BreachVerdict() == reports.Fail {
			assert.Contains(t, strings.Fields(passes), c.ID, "%s passes", check.ID)
		}
	}
}

// earnedByHashes are the clauses that a protected server keeps which evaluates every HELLO, and nothing else.
const earnedByHashes = " FWP-HELLO-04 FWP-AUTH-02 FWP-AUTH-03 FWP-AUTH-04 FWP-AUTH-05"

// TestDying plays the suite on a server that crashes meanwhile: earlier verdicts
// stay, nothing passes afterwards, and the crash is reported.
func TestDying(t *testing.T) {
	t.Parallel()
	scripts := light(quickChecks(t))
	if !golden.IsSlow() {
		scripts = sample(8, "dying", scripts)
	}
	healthy := &mortal{commands: math.MaxInt64}
	results := map[string]reports.Check{}
	for _, check := range mourn(t, healthy, scripts).checks {
		results[check.ID] = check
	}
	life := healthy.count.Load()
	tests := map[string]struct {
		commands int64
		greets   bool
		passes   string
	}{
		"soon":                   {life / 3, false, ""},
		"late":                   {life * 4 / 5, false, ""},
		"soon, but still greets": {life / 3, true, earnedByHELLO + earnedByHashes},
		"late, but still greets": {life * 4 / 5, true, earnedByHELLO + earnedByHashes},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if name == "late" || name == "soon, but still greets" {
				golden.OnlySlow(t)
			}
			m := &mortal{commands: test.commands, greets: test.greets}
			record := mourn(t, m, scripts)
			assert.True(t, m.isDead.Load())
			assert.NotEmpty(t, record.overChecks)
			crashed := slices.ContainsFunc(record.checks, func(c reports.Check) bool { return c.Verdict == reports.Crash })
			assert.True(t, crashed || test.greets, "the death is not told")
			for _, check := range record.checks {
				switch {
				case record.overChecks[check.ID]:
					assert.Equal(t, verdicts(results[check.ID]), verdicts(check), check.ID)
				case !record.begunChecks[check.ID]:
					checkPasses(t, check, test.passes)
				}
			}
		})
	}
}

// verdicts are those of a check, by clause.
func verdicts(check reports.Check) map[string]reports.Verdict {
	all := map[string]reports.Verdict{"": check.Verdict}
	for _, c := range check.Clauses {
		all[c.ID] = c.Verdict
	}
	return all
}

// mortal is the death of a server after so many commands. From then on it closes each
// connection, some only when they have greeted.
type mortal struct {
	commands int64
	greets   bool
	count    atomic.Int64
	isDead   atomic.Bool
}

func (m *mortal) hook(e *fakes.Event) {
	if e.Point == fakes.Parsed && m.count.Add(1) > m.commands {
		m.isDead.Store(true)
	}
	switch isDead := m.isDead.Load(); {
	case isDead && e.Point == fakes.Accepted:
		e.Skip = !m.greets
	case isDead && e.Point == fakes.Ran && (!m.greets || e.Command.Verb != fwp.HELLO):
		e.Reply, e.Close, e.ResetsConn = fwp.Reply{}, true, true
	}
}

// obituary is what a run saw of a server that died.
type obituary struct {
	checks      []reports.Check
	overChecks  map[string]bool // checks that were over before
	begunChecks map[string]bool // checks that had begun before
}

// poolWith returns the pool of servers of FWP with a hook, in memory.
func poolWith(hook func() func(*fakes.Event)) *pool {
	bug := registry.FWPBug(fakes.Bug{Hook: hook})
	return &pool{fixture: Fixture{Network: memnet.New()}, config: registry.Config{Bugs: []registry.Bug{bug}}}
}

func mourn(t *testing.T, m *mortal, scripts []conformance.Check) (record obituary) {
	t.Helper()
	record = obituary{overChecks: map[string]bool{}, begunChecks: map[string]bool{}}
	var mu sync.Mutex
	mark := func(checks map[string]bool, check string) {
		mu.Lock()
		defer mu.Unlock()
		if !m.isDead.Load() {
			checks[check] = true
		}
	}
	synctest.Test(t, func(t *testing.T) {
		t.Helper()
		begin, v := time.Now(), poolWith(func() func(*fakes.Event) { return m.hook })
		defer v.close()
		runner, err := v.runner(scripts...)
		require.NoError(t, err)
		runner.Progress = func(_, _ int, check string) { mark(record.overChecks, check) }
		runner.WatchLine = func(check string, _ reports.Line) { mark(record.begunChecks, check) }
		report := runner.Run(t.Context())
		assert.Empty(t, report.Internal)
		assert.Less(t, time.Since(begin), time.Hour, "the suite hung")
		record.checks = report.Checks
	})
	return record
}

// unearned is what a server does not do that stalls for 5 s within each reply.
const unearned = "FWP-END-02 FWP-FETCH-05 FWP-STATE-04 FWP-STATE-16"

// TestStalling plays the suite on a server that does everything right, and stalls in
// the middle of each reply.
func TestStalling(t *testing.T) {
	t.Parallel()
	scripts := light(quickChecks(t))
	if !golden.IsSlow() {
		scripts = sample(12, "stalling", scripts)
	}
	for name, greets := range map[string]bool{"always": false, "after HELLO": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if !greets {
				golden.OnlySlow(t)
			}
			synctest.Test(t, func(t *testing.T) {
				hook := func() func(*fakes.Event) { return stall(greets) }
				begin, v := time.Now(), poolWith(hook)
				defer v.close()
				runner, err := v.runner(scripts...)
				require.NoError(t, err)
				report := runner.Run(t.Context())
				assert.Empty(t, report.Internal)
				assert.Less(t, time.Since(begin), 24*time.Hour, "the suite hung")
				for _, check := range report.Checks {
					for _, c := range check.Clauses {
						isLate := strings.Contains(unearned, c.ID) && c.Level.BreachVerdict() == reports.Fail
						assert.False(t, isLate && c.Verdict == reports.Pass, "%s passes %s", check.ID, c.ID)
					}
				}
			})
		})
	}
}

func stall(greets bool) func(*fakes.Event) {
	return func(e *fakes.Event) {
		if e.Point == fakes.Writing && (!greets || e.Conn.Commands > 1) {
			e.Chunk, e.ChunkPause = (len(e.Bytes)+1)/2, 5*time.Second
		}
	}
}
