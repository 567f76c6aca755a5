package moves

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/conformance/explore"
	"github.com/fwpsuite/fwp/internal/base/number"
	fwplaw "github.com/fwpsuite/fwp/protocols/fwp/law"
	"github.com/fwpsuite/fwp/protocols/fwp/model"
)

// Every move of the round trips is one of the table or of lives, and their jobs are scheduled only as their way has it.
func TestRoundTrips(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) { // what is ahead by some milliseconds stays so
		time.Sleep(30 * 365 * 24 * time.Hour) // from 2000 to behind the days that are past
		g := newTestMaker(1)
		a := Values().Generate(g.Draw, g.law)
		assert.Len(t, a.Moves, len(valueMoves)+len(waitMoves)+len(leaveMove))
		assert.False(t, a.Done())
		g.isSteady, g.ways, g.plans = true, []string{"", wayAt}, map[string]plan{}
		queues, ahead := map[string]bool{}, 0
		for range 2000 {
			way, queue := deal(g, "way", g.ways), g.queue()
			var job struct{ Queue, At string }
			_ = json.Unmarshal([]byte(g.Fill(g.jobOf(way, queue))), &job) // some are wrong
			queues[job.Queue] = true
			if at, err := number.ParseTime(job.At); err == nil && at.After(time.Now()) {
				assert.Equal(t, wayAt, way, job.At)
				ahead++
			}
		}
		limit := len(alikeQueues) + len(oddQueues) + 2*len(lengths)
		assert.LessOrEqual(t, len(queues), limit, "a few, and each unusual name")
		assert.NotZero(t, ahead)
	})
}

// Each way has all names of jids, whatever the others draw, and their twins. A job in an odd queue that is acknowledged
// has a short reservation, so that it would come back in time.
func TestJobIDs(t *testing.T) {
	t.Parallel()
	g := newTestMaker(1)
	g.isSteady = true
	kinds := len(alikeNames) + len(lengths)
	drawn := map[string][]string{}
	for i := 0; len(drawn[wayAck]) < kinds || len(drawn[wayFail]) < kinds; i++ {
		way := []string{wayAck, wayFail, wayFail}[i%3]
		jid := g.jobID(way)
		if g.twin == "" {
			continue
		}
		if first := strings.TrimPrefix(jid, fmt.Sprintf("$jid%d", g.jobs)); len(drawn[way]) < kinds {
			drawn[way] = append(drawn[way], first[:min(len(first), 4)]+strconv.Itoa(len(g.Fill(jid))))
		}
		assert.NotEqual(t, jid, g.jobID(way), "its twin")
		assert.Empty(t, g.twin)
	}
	for way, names := range drawn {
		assert.Len(t, names, kinds, way)
		assert.Greater(t, len(unique(names)), kinds-6, way)
	}
	for range 20 {
		assert.Equal(t, "60", g.fieldOf(jobField{name: "reserve_for", period: 3}, wayAck, riskyValue{}, true))
	}
}

// A job for which a FETCH waits is one that every server takes, in the queue of the FETCH.
func TestWakeJobs(t *testing.T) {
	t.Parallel()
	g := newTestMaker(1)
	g.isSteady = true
	for range 2000 {
		l := fwplaw.ReadLine([]byte("PUSH " + g.Fill(g.jobOf(wayAwaited, "$queue77"))))
		assert.True(t, l.Form == model.Okay && !l.IsRefusable() || len(l.Args) > 32<<10, "%.300s", l.Args)
		assert.Equal(t, g.Fill("$queue77"), l.Fields["queue"])
	}
}

// The work on a job ends first as its way has it, and then as there is time for it.
func TestEndOfWay(t *testing.T) {
	t.Parallel()
	later := longSpans().failEnd + time.Second
	for _, test := range []struct {
		way, fields string
		deliveries  int
		elapsed     time.Duration
		ends        []string
	}{
		{wayAck, "", 1, 0, []string{wayAck}},
		{wayAt + " " + wayFail, "", 1, 0, []string{wayFail}},
		{wayFail, "", 2, 0, []string{wayFail, wayAck}},
		{wayFail, "", 2, later, []string{wayAck}},
		{wayExpire, `,"reserve_for":60`, 1, later, []string{wayExpire}},
		{wayExpire, `,"reserve_for":61`, 1, 0, []string{wayAck}}, // another one was refused
		{wayFail, `,"reserve_for":60`, 2, 0, []string{wayFail, wayAck, wayExpire}},
		{wayFail, `,"reserve_for":60`, 2, longSpans().keepEnd, []string{wayFail, wayAck}},
	} {
		ends := map[string]bool{}
		for seed := range uint64(40) {
			g := newTestMaker(seed)
			jid, queue := g.jid(), g.freshQueue()
			g.times = longSpans()
			g.plans, g.runTime = map[string]plan{jid: {way: test.way}}, func() time.Duration { return test.elapsed }
			p := &player{law: g.law, replies: [][2]string{{"FETCH " + queue, `${"jid":"~` + jid[1:] + `"}`}}}
			p.play(push(2, jid, queue, test.fields))
			p.play(line(2, "FETCH %s", queue))
			j := g.law.world.Jobs[g.law.realName(jid)]
			assert.Equal(t, 1, j.Deliveries)
			if test.deliveries == 2 {
				g.end(j)
				j.Deliveries++
			}
			end := g.end(j)
			assert.Equal(t, end, g.end(j), "it is chosen once")
			assert.Equal(t, end == wayFail, strings.HasPrefix(g.report(j), "FAIL "))
			assert.Equal(t, end != wayExpire, slices.Contains(g.jobsToReport(g.law.world.Conns[2]), j))
			ends[end] = true
		}
		assert.ElementsMatch(t, test.ends, slices.Collect(maps.Keys(ends)), "%v", test)
	}
}

// The server is restarted behind the last PUSH, and once more before the sweep where lives are followed.
func TestRestartTime(t *testing.T) {
	t.Parallel()
	g, elapsed := newTestMaker(1), time.Duration(0)
	g.runTime = func() time.Duration { return elapsed }
	assert.True(t, g.isRestartDue())
	moments := map[string]bool{}
	for _, s := range g.restart(2, nil) {
		if _, at, ok := strings.Cut(s.Text(), `"at":`); ok {
			moments[at] = true
		}
	}
	assert.Len(t, moments, 25, "a job for each moment of the restart, and one for later")
	elapsed = longSpans().sweep
	assert.False(t, g.isRestartDue(), "no lives are followed")
	g.times = longSpans()
	assert.True(t, g.isRestartDue())
	elapsed = g.times.sweep / 2
	assert.False(t, g.isRestartDue())
	elapsed, g.isSwept = g.times.sweep, true
	assert.False(t, g.isRestartDue())
	g.isSwept = false
	g.restart(2, nil)
	assert.False(t, g.isRestartDue())
}

// With less time all is sooner, and what is kept has come back before the sweep.
func TestShortenSpans(t *testing.T) {
	t.Parallel()
	assert.Equal(t, longSpans(), longSpans().shorten(-time.Hour))
	for limit := LivesAtLeast; limit <= LivesLast; limit += time.Second {
		s := longSpans().shorten(LivesLast - limit)
		assert.False(t, s.isBrief())
		assert.Less(t, max(s.keepEnd, s.pushEnd)+shortestReservation+15*time.Second, s.sweep, limit)
		assert.Less(t, s.pushEnd, s.failEnd)
		assert.Less(t, s.failEnd, s.sweep)
		assert.Less(t, s.sweep, s.awaitEnd)
		assert.Less(t, s.awaitEnd, limit)
	}
}

// The sweep comes at its time, once, and the lives do not end without it unless no job has ended.
func TestLivesEnd(t *testing.T) {
	t.Parallel()
	g, elapsed := newTestMaker(1), time.Duration(0)
	g.law = newLaw(g.law.Terms)
	p := &player{law: g.law}
	p.play(consumer(2, 2))
	g.isPushing, g.runTime = func() bool { return false }, func() time.Duration { return elapsed }
	g.times = longSpans()
	assert.True(t, g.areLivesDone(), "no job was taken")
	jid, queue := g.jid(), g.freshQueue()
	p.replies = [][2]string{{"FETCH " + queue, `${"jid":"~` + jid[1:] + `"}`}}
	for _, s := range []explore.Step{push(2, jid, queue, ""), line(2, "FETCH %s", queue), ack(2, jid)} {
		p.play(s)
	}
	sweep := lifeMoves[slices.IndexFunc(lifeMoves, func(m move) bool { return m.name == "sweep" })]
	worker := g.law.world.Conns[2]
	assert.False(t, g.areLivesDone())
	assert.False(t, sweep.fits(g, 2, worker))
	elapsed = longSpans().sweep
	assert.True(t, sweep.fits(g, 2, worker))
	sweep.make(g, 2, worker)
	assert.False(t, sweep.fits(g, 2, worker), "it was done")
	assert.True(t, g.areLivesDone())
}

// A job that failed is awaited, unless its retry came as another one: it may never come again.
func TestAwaitedReturn(t *testing.T) {
	t.Parallel()
	g := newTestMaker(1)
	g.times, g.runTime = longSpans(), func() time.Duration { return longSpans().awaitEnd }
	p := &player{law: g.law}
	for retry, isAwaited := range map[string]bool{"3": true, "4": false} {
		jid, queue := g.jid(), g.queue()
		name := g.Fill(jid)
		const reply = `${"jid":%q,"jobtype":"t","args":[],"queue":%q,"retry":%s}`
		p.replies = [][2]string{{"FETCH " + queue, fmt.Sprintf(reply, name, g.Fill(queue), retry)}}
		for _, s := range []explore.Step{
			push(2, jid, queue, `,"retry":3`), line(2, "FETCH %s", queue), line(2, "FAIL %s", g.failure(jid)),
		} {
			p.play(s)
		}
		j := g.law.world.Jobs[name]
		assert.Equal(t, 1, j.Deliveries, retry)
		assert.Equal(t, isAwaited, g.isAwaited(j), retry)
	}
}

// A worker that retires tells its state, reports all that it holds, and ends its connections.
func TestRetire(t *testing.T) {
	t.Parallel()
	g := newTestMaker(1)
	g.replacements, g.plans, g.times = map[int]int{}, map[string]plan{}, longSpans()
	g.runTime = func() time.Duration { return 0 }
	worker := g.law.world.Conns[2]
	count := len(g.heldJobs(worker.WID))
	var lines []string
	ended := map[int]bool{}
	for _, s := range g.retire(2, worker) {
		lines = append(lines, strings.Fields(s.Text() + " .")[0])
		ended[s.Conn()] = s.Ends()
	}
	assert.NotZero(t, count)
	assert.Equal(t, "BEAT", lines[0])
	assert.Len(t, lines, 1+count+2)
	assert.Equal(t, map[int]bool{2: true, 3: true}, ended)
	assert.Equal(t, map[int]int{1: 1}, g.replacements, "another one takes its place")
}

// The queues of all that has ended are looked into once more, and no other queue but one with a job, behind which no
// FETCH waits.
func TestSweep(t *testing.T) {
	t.Parallel()
	g := newTestMaker(1)
	p := &player{law: g.law}
	var ended []string
	for i := range 2*maxFetch + 3 {
		jid, queue := g.jid(), fmt.Sprintf("$queue%d", 100+i)
		p.play(push(2+i%2, jid, queue, ""))
		if i == 0 { // it is enqueued still
			continue
		}
		ended = append(ended, queue)
		p.replies = append(p.replies, [2]string{"FETCH " + queue, `${"jid":"~` + jid[1:] + `"}`})
		p.play(line(2+i%2, "FETCH %s", queue))
		p.play(ack(2+i%2, jid))
	}
	var sweptQueues []string
	for steps := range slices.Chunk(g.sweep(2, g.law.world.Conns[2]), 3) {
		names, fetches := strings.CutPrefix(steps[1].Text(), "FETCH ")
		assert.True(t, fetches)
		queues := strings.Fields(names)
		assert.LessOrEqual(t, len(queues), maxFetch)
		last := queues[len(queues)-1]
		assert.Contains(t, steps[0].Text(), `"queue":"`+last+`"`, "the last queue has a job")
		assert.True(t, strings.HasPrefix(steps[2].Text(), "ACK "))
		assert.False(t, steps[1].Ahead, "there is a job, so the reply is awaited")
		sweptQueues = append(sweptQueues, queues[:len(queues)-1]...)
	}
	assert.ElementsMatch(t, ended, sweptQueues)
	assert.True(t, g.isSwept)
}
