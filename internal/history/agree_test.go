package history

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/internal/proof/golden"
)

// scaledCount returns n with FWP_SLOW=1, and otherwise a twentieth of it.
func scaledCount(n int) int {
	if golden.IsSlow() {
		return n
	}
	return n / 20
}

// isOfCalls reports whether a finding comes of a job's own calls and of the end
// of the run. Those of single FETCHes are not among them.
func isOfCalls(f Finding) bool {
	return !strings.Contains(f.Description, "found nothing in queue") &&
		!slices.Contains([]Breach{WrongQueue, WrongDefaultQueue, Altered, QueueAltered, QueueOrder}, f.Breach)
}

// wrongJobs are the jobs with findings.
func wrongJobs(findings []Finding, counts func(Finding) bool) map[string]bool {
	wrong := map[string]bool{}
	for _, f := range findings {
		if f.JID != "" && counts(f) {
			wrong[f.JID] = true
		}
	}
	return wrong
}

// judgedJobs are the jobs of a history that are judged.
func judgedJobs(h *History) []string {
	pushes := map[string]int{}
	for _, e := range h.Events {
		if e.JID == "" {
			continue
		}
		if _, ok := pushes[e.JID]; !ok {
			pushes[e.JID] = 0
		}
		if e.Op == Push {
			pushes[e.JID]++
		}
	}
	return slices.DeleteFunc(slices.Sorted(maps.Keys(pushes)), func(jid string) bool { return pushes[jid] > 1 })
}

// agree holds the judge against the other checker, job by job, and returns how many
// jobs were right and how many were wrong.
func agree(t *testing.T, h *History, seed uint64) (right, wrong int) {
	t.Helper()
	findings := Judge(h)
	blamed := wrongJobs(findings, isOfCalls)
	for _, jid := range judgedJobs(h) {
		ok := porcupineSays(h, jid, false)
		if ok == blamed[jid] {
			require.Failf(t, "they do not agree", "seed %d, job %s: porcupine says %v\n%s",
				seed, jid, ok, dump(h, jid, findings))
		}
		if ok {
			right++
		} else {
			wrong++
		}
	}
	return right, wrong
}

func dump(h *History, jid string, findings []Finding) string {
	var b bytes.Buffer
	fmt.Fprintf(&b, "drained %v limits %+v\n", h.Drained, h.Limits)
	for i, e := range h.Events {
		if e.JID == jid || e.Op == Flush || e.Op == Fetch && e.Outcome != OK {
			fmt.Fprintf(&b, "#%d %v %v %s %s %v %v..%v",
				i, e.Op, e.Outcome, e.Worker, e.JID, append(e.Queues, e.Queue), e.Call, e.Return)
			if e.Retry != nil {
				fmt.Fprintf(&b, " retry %d", *e.Retry)
			}
			fmt.Fprintf(&b, " at %v\n", e.At)
		}
	}
	for _, f := range findings {
		fmt.Fprintf(&b, "%+v\n", f)
	}
	return b.String()
}

func TestJudgeAgreesAboutARightServer(t *testing.T) {
	t.Parallel()
	for seed := range uint64(scaledCount(20_000)) {
		h, _ := simulate(seed, 6+int(seed%10), "")
		findings := Judge(&h)
		require.Empty(t, findings, "seed %d\n%s", seed, dump(&h, "", findings))
		_, wrong := agree(t, &h, seed)
		require.Zero(t, wrong, "seed %d", seed)
	}
}

// TestSimulatedClientsGoAway counts, in the histories that both checkers judge, the calls
// without a reply, and the workers that came back.
func TestSimulatedClientsGoAway(t *testing.T) {
	t.Parallel()
	counts := map[Op]int{}
	same, other := 0, 0
	for seed := range uint64(2000) {
		h, _ := simulate(seed, 6+int(seed%10), "")
		wids := map[string]int{}
		for _, e := range h.Events {
			if e.Outcome == NoReply {
				counts[e.Op]++
			}
			if client, ok := wids[e.Worker]; ok && client != e.Client {
				same++
			}
			if e.Client >= 10 && e.Worker == fmt.Sprintf("w%d", e.Client) {
				other++
			}
			wids[e.Worker] = e.Client
		}
	}
	t.Log(counts, same, other)
	for _, op := range []Op{Push, Fetch, Ack, Fail, Flush} {
		assert.Greater(t, counts[op], 10, op)
	}
	assert.Greater(t, same, 100)
	assert.Greater(t, other, 100)
}

func TestJudgeAgreesAboutPlantedBugs(t *testing.T) {
	t.Parallel()
	for bug, breaches := range simulatedBugs {
		t.Run(bug, func(t *testing.T) {
			t.Parallel()
			var planted, hits int
			named := map[Breach]int{}
			for seed := range uint64(scaledCount(6_000)) {
				h, isPlanted := simulate(seed, 8+int(seed%10), bug)
				if !isPlanted {
					continue
				}
				planted++
				agree(t, &h, seed)
				findings := Judge(&h)
				if len(findings) > 0 {
					hits++
				}
				for _, f := range findings {
					named[f.Breach]++
					fits := slices.ContainsFunc(append(f.Or, f.Breach), func(b Breach) bool { return slices.Contains(breaches, b) })
					require.True(t, fits, "seed %d: %s\n%s", seed, f.Breach, dump(&h, f.JID, findings))
				}
			}
			t.Logf("%d histories, in %d of them it is found: %v", planted, hits, named)
			assert.Positive(t, named[breaches[0]], "%v", named)
		})
	}
}

func TestJudgeAgreesAboutMutations(t *testing.T) {
	t.Parallel()
	bugs := append([]string{"", "", ""}, slices.Sorted(maps.Keys(simulatedBugs))...)
	var right, wrong int
	for seed := range uint64(scaledCount(40_000)) {
		h, _ := simulate(seed, 6+int(seed%8), bugs[seed%uint64(len(bugs))])
		s := &simulation{Rand: rand.New(rand.NewPCG(seed, 2))}
		for range 1 + s.IntN(4) {
			s.mutate(&h)
		}
		r, w := agree(t, &h, seed)
		right, wrong = right+r, wrong+w
	}
	t.Logf("%d jobs right, %d wrong", right, wrong)
	assert.Greater(t, wrong, right/20)
}
