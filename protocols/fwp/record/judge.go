package record

import (
	"cmp"
	"encoding/json"
	"maps"
	"sync"
	"time"

	"github.com/fwpsuite/fwp/protocols/fwp"
	"github.com/fwpsuite/fwp/protocols/fwp/clientrules"
)

// Counts are what has passed.
type Counts struct {
	Connections, OpenConnections int
	ClientBytes                  int64
	ServerBytes                  int64
	Commands                     map[string]int64 // by verb; those that the specification does not have are "other"
	Errors                       int64            // error replies
	Breaches                     map[string]int64 // by name
	UnjudgedConnections          int64            // connections that were too fast or too large to be judged
	LongestWait, LatestWait      time.Duration    // of what was judged, in the queue
}

// Summary is what a Recorder knows.
type Summary struct {
	Duration time.Duration
	Counts   Counts
	Results  []clientrules.Result // of each rule
	// Lines is how many lines the script has; CutReason says that it is not whole, and why.
	Lines     int
	CutReason string
}

// judge turns what passes into events, runs the rules over them, counts, and writes the script.
type judge struct {
	cfg      Config
	start    time.Time
	builder  *clientrules.Builder
	watch    *clientrules.Watch
	lawJudge *lawJudge // nil: the protocol has none
	script   *script   // nil: none is written

	mu     sync.Mutex // of what follows, and of watch and script
	counts Counts
	now    time.Duration
}

func newJudge(cfg Config, begun time.Time) *judge {
	cfg.Watch.JudgesServer = true
	j := &judge{cfg: cfg, start: begun, watch: clientrules.NewWatch(cfg.Watch)}
	j.counts.Commands, j.counts.Breaches = map[string]int64{}, map[string]int64{}
	j.builder = clientrules.NewBuilder(j.event)
	if cfg.Law.Start != nil {
		j.lawJudge = newLawJudge(cfg.Law, cfg.Watch.Password, begun)
	}
	if cfg.KeepsScript {
		j.script = newScript(begun, cfg.MaxScript, cfg.Watch.Password)
		if cfg.Dialect != nil {
			j.script.dialect = cfg.Dialect
		}
	}
	return j
}

// beat is how often the judge looks at the time when nothing passes.
const beat = 200 * time.Millisecond

// run judges until the queue has ended.
func (j *judge) run(q *queue) {
	ticker := time.NewTicker(beat)
	defer ticker.Stop()
	latest := time.Since(j.start)
	for {
		select {
		case <-q.ready:
		case <-ticker.C:
			now := time.Since(j.start)
			lag := now - latest - 2*beat // a tick may be just behind
			latest = now
			j.tick(now, lag)
		}
		items, hasEnded, at := q.take()
		j.items(items, q.expired)
		if hasEnded {
			j.end(at)
			return
		}
	}
}

func (j *judge) tick(now, lag time.Duration) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if lag > beat {
		j.event(clientrules.Event{At: j.now, Kind: clientrules.Lag, Lag: lag})
	}
	// What was read by now may still be in the queue, so time is let pass with a distance.
	if at := now - time.Second; at > j.now {
		j.now = at
		j.event(clientrules.Event{At: at, Kind: clientrules.TimePassage})
	}
}

// items judges what passed. When late is closed, some time after the end of the recording, it loses all connections.
func (j *judge) items(items []item, expired <-chan struct{}) {
	if len(items) == 0 {
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, i := range items {
		select {
		case <-expired:
			j.builder.LoseAll(j.now)
			return
		default:
		}
		j.now = max(j.now, i.at)
		j.item(i)
	}
	j.counts.LatestWait = time.Since(j.start) - items[0].at
	j.counts.LongestWait = max(j.counts.LongestWait, j.counts.LatestWait)
}

func (j *judge) item(i item) {
	switch i.kind {
	case connOpen:
		j.counts.Connections++
		j.counts.OpenConnections++
		j.builder.Open(j.now, i.conn, 0)
	case clientData:
		j.counts.ClientBytes += int64(len(i.data))
		j.builder.Client(j.now, i.conn, i.data)
	case serverData:
		j.counts.ServerBytes += int64(len(i.data))
		j.builder.Server(j.now, i.conn, i.data)
	case clientReady:
		j.builder.Ready(j.now, i.conn)
	case connClose:
		j.counts.OpenConnections--
		j.builder.Close(j.now, i.conn, i.closer, i.isReset)
	case dataLoss:
		j.counts.OpenConnections--
		j.builder.Lose(j.now, i.conn)
	}
}

// event counts and judges an event, and writes it into the script.
func (j *judge) event(e clientrules.Event) {
	switch e.Kind {
	case clientrules.Line:
		verb := e.Command.Verb
		if !fwp.Identified.Allows(verb) {
			verb = "other"
		}
		j.counts.Commands[verb]++
		if j.cfg.OnPush != nil {
			j.passJobs(&e)
		}
	case clientrules.ByteLoss:
		j.counts.UnjudgedConnections++
	case clientrules.Reply:
		if e.Reply.Kind == fwp.ErrorReply {
			j.counts.Errors++
		}
	}
	breaches := j.watch.See(e)
	if j.lawJudge != nil {
		breaches = append(breaches, j.lawJudge.judge(&e)...)
	}
	j.report(breaches)
	if j.script != nil {
		j.script.add(&e, breaches)
	}
}

// passJobs passes on the jobs that a line pushes.
func (j *judge) passJobs(e *clientrules.Event) {
	var jobs []map[string]any
	switch e.Command.Verb {
	case fwp.PUSH:
		jobs = []map[string]any{e.Object}
	case "PUSHB":
		if json.Unmarshal(e.Command.Args, &jobs) != nil {
			return
		}
	}
	for _, job := range jobs {
		if job == nil {
			continue
		}
		queue, _ := job["queue"].(string)
		jobtype, _ := job["jobtype"].(string)
		args, _ := json.Marshal(job["args"]) // it was read as JSON
		j.cfg.OnPush(e.At, cmp.Or(queue, "default"), jobtype, len(args))
	}
}

func (j *judge) report(breaches []clientrules.Breach) {
	for _, b := range breaches {
		j.counts.Breaches[b.Name]++
		if j.cfg.OnBreach != nil {
			j.cfg.OnBreach(b)
		}
	}
}

func (j *judge) end(at time.Duration) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.now = max(j.now, at)
	j.builder.End(j.now)
	j.report(j.watch.End(j.now))
	if j.lawJudge != nil {
		j.report(j.lawJudge.finish())
	}
}

// Summary returns what is known by now. It may be called while connections pass.
func (r *Recorder) Summary() Summary {
	j := r.judge
	j.mu.Lock()
	defer j.mu.Unlock()
	s := Summary{Duration: r.now(), Counts: j.counts, Results: j.watch.Results()}
	s.Counts.Commands, s.Counts.Breaches = maps.Clone(s.Counts.Commands), maps.Clone(s.Counts.Breaches)
	if j.script != nil {
		s.Lines, s.CutReason = len(j.script.lines), j.script.cutReason
	}
	return s
}

// Script returns what has passed as a script in its normal form, which plays again. The error says what of it is not in
// order; the text is returned all the same.
func (r *Recorder) Script() ([]byte, error) {
	j := r.judge
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.script == nil {
		return nil, nil
	}
	return j.script.format()
}
