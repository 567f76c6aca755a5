package law

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/conformance/law"
	"github.com/fwpsuite/fwp/internal/base/number"
)

// differs compares a delivered job with what was pushed, field by field. (Work units) A value that differs is assumed
// to be the server's way, so that the fields behind it are compared as well. Of several differences it returns the
// first one that was not told before, in this place.
func (w *World) differs(j *Job, f map[string]any, now time.Time) (told *law.Violation) {
	times := func(f map[string]any) *law.Violation { return j.times(f, now) }
	failures := func(f map[string]any) *law.Violation { return j.failures(f, now) }
	again := func(f map[string]any) *law.Violation { return j.enqueuedAgain(f, now) }
	stamps := func(f map[string]any) *law.Violation { return w.stamps(j, f, now) }
	stray := func(f map[string]any) *law.Violation { return w.stray(j, f) }
	checks := []func(map[string]any) *law.Violation{
		j.letters, j.given, j.defaults, j.createdAt, times, failures, again, stamps, stray,
	}
	seen := map[string]bool{}
	if j.requeued { // when it was enqueued is not laid down
		checks = append(checks[:4], failures, stray)
	}
	if j.Unjudged == Unseen { // the others depend on what was done with the job
		checks = checks[:4]
	}
	for _, check := range checks {
		for v := check(f); v != nil; v = check(f) {
			field, _, _ := strings.Cut(v.Got, ":")
			if seen[field] {
				break
			}
			seen[field], v.Rule, v.JID = true, "field", j.JID
			v.Place = field + ": " + kindOf(j.sent[field]) + ", came " + kindOf(f[field])
			if told == nil || w.told[told.Clause+told.Place] && !w.told[v.Clause+v.Place] {
				told = v
			}
			j.assume(field, f[field])
		}
	}
	if told != nil {
		w.told[told.Clause+told.Place] = true
	}
	return told
}

// Difference returns how a job differs that came back long after its PUSH, or after a FAIL if failure has the argument
// of one, from what was sent. Times of the server's are not compared. It returns nil if nothing differs.
func Difference(sent, failure, got map[string]any) *law.Violation {
	j := newJob(sent)
	for _, check := range [...]func(map[string]any) *law.Violation{j.letters, j.given, j.defaults, j.createdAt} {
		if v := check(got); v != nil {
			return v
		}
	}
	if failure == nil {
		return nil
	}
	f, is := got["failure"].(map[string]any)
	if !is {
		return wrong("FWP-WU-13", "failure", "object", got["failure"])
	}
	j.failure = failure
	return j.described(got, texts(f), time.Time{})
}

// assume takes a value that differs from what was pushed as the server's way with the job. What comes of a job whose
// reservation may last for another time is not known, nor how often one is tried whose retry is another.
func (j *Job) assume(field string, value any) {
	if j.assumed == nil {
		j.assumed = map[string]any{}
	}
	switch j.assumed[field] = value; field {
	case "reserve_for":
		j.Unjudged = Reported
	case "retry":
		j.uncertain = true
	}
}

// same reports whether a field came as it was pushed, or as it did before.
func (j *Job) same(f map[string]any, field string) bool {
	return Equal(j.sent[field], f[field]) || j.assumes(f, field)
}

// Changed reports whether a field came with another value than was pushed.
func (j *Job) Changed(field string) bool {
	_, is := j.assumed[field]
	return is
}

// assumes reports whether a field came as it did before, when that was not as it was pushed.
func (j *Job) assumes(f map[string]any, field string) bool {
	value, is := j.assumed[field]
	return is && Equal(value, f[field])
}

// kindOf names the kind of a value.
func kindOf(v any) string {
	switch v := v.(type) {
	case nil:
		return "nothing"
	case string:
		return "a text"
	case json.Number:
		if strings.ContainsAny(string(v), ".eE") {
			return "a fraction"
		}
		return "a number"
	case []any:
		return "a list"
	case map[string]any:
		return "an object"
	}
	return "true or false"
}

// letters judges whether those beyond ASCII were kept at all.
func (j *Job) letters(f map[string]any) *law.Violation {
	beyond := func(f map[string]any) bool {
		return strings.ContainsFunc(written(f["jobtype"])+written(f["args"]), notASCII)
	}
	if beyond(f) || !beyond(j.sent) {
		return nil
	}
	field := "args"
	if Equal(j.sent["args"], f["args"]) {
		field = "jobtype"
	}
	return wrong("FWP-FRAME-09", field, written(j.sent[field]), f[field])
}

// enqueuedAgain judges whether enqueued_at of a job that came back is that of its last time.
func (j *Job) enqueuedAgain(f map[string]any, now time.Time) *law.Violation {
	at, _ := f["enqueued_at"].(string)
	if j.enqueued == "" || j.afterStop == anywhere || at != j.enqueued || now.Sub(j.delivered) <= 15*time.Second {
		return nil
	}
	if t, is := instantOf(at); is && j.left().Sub(t) < 2*time.Second { // it may be true, where clocks are coarse
		return nil
	}
	ago := max(0, now.Sub(j.left())-time.Second/2)
	v := wrong("FWP-WU-12", "enqueued_at", fmt.Sprintf("time($now-%dms..)", ago.Milliseconds()), at)
	v.Doubtful = true // or the job was given out twice
	v.What = "it was enqueued again since"
	return v
}

// left returns when its worker last lost the job.
func (j *Job) left() time.Time {
	if j.failed.After(j.held) || j.failed.Equal(j.held) {
		return j.failed
	}
	return j.until
}

func notASCII(r rune) bool { return r > 0x7f }

func wrong(clause, field, want string, got any) *law.Violation {
	return &law.Violation{Clause: clause, Expected: fmt.Sprintf("${%q:%s}", field, want), Got: show(field, got)}
}

func show(field string, value any) string {
	b, _ := json.Marshal(value)
	if value == nil {
		b = []byte("null or absent")
	}
	return fmt.Sprintf("%s: %.200s", field, b)
}

func written(v any) string {
	b, _ := json.Marshal(v)
	return string(b)
}

// given judges the fields that come back unchanged.
func (j *Job) given(f map[string]any) *law.Violation {
	switch {
	case !j.same(f, "jobtype"):
		return wrong("FWP-WU-02", "jobtype", written(j.sent["jobtype"]), f["jobtype"])
	case !j.same(f, "args"):
		return wrong("FWP-WU-03", "args", "="+written(j.sent["args"]), f["args"])
	case f["queue"] != nil && f["queue"] != j.Queue && !j.phrase():
		return wrong("FWP-WU-04", "queue", written(j.Queue), f["queue"])
	}
	custom, _ := j.sent["custom"].(map[string]any)
	got, is := f["custom"].(map[string]any)
	switch {
	case j.assumes(f, "custom"):
	case custom == nil && (f["custom"] != nil): // AMB-18
		return wrong("FWP-WU-11", "custom", "null | absent", f["custom"])
	case len(custom) == 0 && f["custom"] == nil: // nothing was said by an empty one
	case !is || !Equal(custom, got):
		return wrong("FWP-WU-11", "custom", "="+written(custom), f["custom"])
	}
	return nil
}

// defaults judges the numbers, which a server need not give back. (AMB-18)
func (j *Job) defaults(f map[string]any) *law.Violation {
	for _, d := range []struct {
		name          string
		value         int64
		clause, other string
	}{
		{"retry", 25, "FWP-WU-07", "FWP-RETRY-04"},
		{"backtrace", 0, "FWP-WU-09", "FWP-WU-08"},
		{"reserve_for", 1800, "FWP-WU-05", "FWP-WU-05"},
	} {
		want, sent := integer(j.sent[d.name])
		clause := d.clause
		switch {
		case sent && d.name == "reserve_for" && want < 60, !sent && j.sent[d.name] != nil, j.assumes(f, d.name): // AMB-17
			continue
		case !sent:
			want, clause = d.value, d.other
		}
		if f[d.name] != nil && !Equal(json.Number(fmt.Sprint(want)), f[d.name]) {
			return wrong(clause, d.name, fmt.Sprintf("%d | null | absent", want), f[d.name])
		}
	}
	return nil
}

// createdAt judges created_at, which the client may leave to the server.
func (j *Job) createdAt(f map[string]any) *law.Violation {
	created, ok := instantOf(f["created_at"])
	sent, given := instantOf(j.sent["created_at"])
	switch {
	case !ok:
		return wrong("FWP-WU-10", "created_at", "time", f["created_at"])
	case given && !rounded(created, sent):
		return wrong("FWP-WU-10", "created_at", fmt.Sprintf("time(%[1]s..%[1]s)", j.sent["created_at"]), f["created_at"])
	}
	return nil
}

// times judges enqueued_at and at, as far as the clock of the server does not matter.
func (j *Job) times(f map[string]any, now time.Time) *law.Violation {
	created, _ := instantOf(f["created_at"])
	_, given := instantOf(j.sent["created_at"])
	enqueued, stamped := instantOf(f["enqueued_at"])
	at, later := instantOf(j.sent["at"])
	switch {
	case !stamped:
		return wrong("FWP-WU-12", "enqueued_at", "time", f["enqueued_at"])
	case later && enqueued.Before(at.Add(-time.Second)):
		return j.tooEarly(now.Before(at) || !given && enqueued.Sub(created) > time.Second, f)
	case j.sent["enqueued_at"] != nil && f["enqueued_at"] == j.sent["enqueued_at"]:
		return wrong("FWP-WU-12", "enqueued_at", "time($now-1h..$now+2h)", f["enqueued_at"])
	case given && enqueued.Equal(created) && now.Sub(created) > 24*time.Hour:
		return wrong("FWP-WU-12", "enqueued_at", "time($now-2h..$now+2h)", f["enqueued_at"])
	}
	if back, is := instantOf(f["at"]); later && is && j.enqueued == "" && !near(at, back) {
		return wrong("FWP-WU-06", "at", written(j.sent["at"]), f["at"])
	}
	return nil
}

// tooEarly is the violation that a job was enqueued before it was due, by its enqueued_at: the job was itself, or the
// time of its PUSH stands there.
func (j *Job) tooEarly(itself bool, f map[string]any) *law.Violation {
	clause := "FWP-WU-12"
	if itself {
		clause = "FWP-WU-06"
	}
	v := wrong(clause, "enqueued_at", fmt.Sprintf("time(%s..)", j.sent["at"]), f["enqueued_at"])
	v.Expected += " | $-1"
	return v
}

// stamps judges what the server writes by its own clock: when a job was created, unless the client has said that, and
// when it was enqueued last. (Optional fields, created_at; Read-only fields, enqueued_at; AMB-36)
func (w *World) stamps(j *Job, f map[string]any, now time.Time) *law.Violation {
	_, given := instantOf(j.sent["created_at"])
	created, _ := instantOf(f["created_at"])
	enqueued, _ := instantOf(f["enqueued_at"])
	if !given && !j.created.IsZero() && !near(j.created, created) {
		return wrong("FWP-WU-10", "created_at", fmt.Sprintf("time(%[1]s..%[1]s)", j.created.Format(time.RFC3339Nano)),
			f["created_at"])
	}
	j.created = created
	from, to := j.enqueuedWithin(now)
	clock := w.clock
	isCreated := given || clock.Agrees(created, j.asked, j.answered(now))
	isEnqueued := clock.Agrees(enqueued, from, to)
	if isCreated && isEnqueued {
		w.clock = clock
		return nil
	}
	clause, field := "FWP-WU-12", "enqueued_at"
	if !given && created.Sub(j.asked).Abs() > enqueued.Sub(from).Abs() {
		clause, field, from, to = "FWP-WU-10", "created_at", j.asked, j.answered(now)
	}
	from, to, known := w.clock.Between(from, to)
	if !known { // the two do not agree, and which clock the server has is not known
		from, to = from.Add(-time.Hour), to.Add(time.Hour)
	}
	v := wrong(clause, field, fmt.Sprintf("time($now-%dms..$now+%dms)",
		max(0, now.Sub(from).Milliseconds()), max(0, to.Sub(now).Milliseconds())), f[field])
	v.Doubtful = j.enqueued != "" // or the job was given out twice
	return v
}

// answered returns until when the PUSH of the job was carried out at the latest.
func (j *Job) answered(now time.Time) time.Time {
	if j.pushed.IsZero() {
		return now
	}
	return j.pushed
}

// enqueuedWithin returns the moments between which the job was enqueued last, by our clock.
func (j *Job) enqueuedWithin(now time.Time) (from, to time.Time) {
	_, later := j.sent["at"]
	switch {
	case j.enqueued == "" && !later && !j.restarted && !j.uncertain:
		return j.asked, j.answered(now)
	case j.enqueued != "" && j.Failures > 0 && !j.uncertain:
		return j.failed, now
	}
	return j.asked, now
}

func instantOf(v any) (time.Time, bool) {
	s, _ := v.(string)
	t, err := number.ParseTime(s)
	return t, err == nil
}

// rounded reports whether an instant is the one that was sent, but for digits that were cut off or rounded.
func rounded(got, sent time.Time) bool {
	for unit := time.Microsecond; unit <= time.Second; unit *= 10 {
		if got.Equal(sent.Truncate(unit)) || got.Equal(sent.Round(unit)) {
			return true
		}
	}
	return got.Sub(sent).Abs() < time.Microsecond
}

func near(a, b time.Time) bool { return a.Sub(b).Abs() < time.Second }

// texts returns all strings of a value, joined.
func texts(v any) string {
	switch x := v.(type) {
	case string:
		return x + "\n"
	case []any:
		var b strings.Builder
		for _, e := range x {
			b.WriteString(texts(e))
		}
		return b.String()
	case map[string]any:
		var b strings.Builder
		for _, e := range x {
			b.WriteString(texts(e))
		}
		return b.String()
	}
	return ""
}

// Equal reports whether two JSON values are the same, numbers as [sameNumber] has it.
func Equal(sent, got any) bool { return number.EqualValues(sent, got, sameNumber) }

// sameNumber reports whether a number came back as AMB-16 demands: an integer of at most
// 63 bits exactly, and any other as far as a float64 goes, since the specification
// promises no range. It is the only leniency on top of [number.Equal].
func sameNumber(sent, got json.Number) bool {
	x, errX := sent.Float64()
	y, errY := got.Float64()
	switch {
	case number.Equal(sent, got), errX != nil, errY != nil, len(sent)+len(got) > 200:
		return true
	case isInt64(sent):
		return false
	}
	return x == y
}

// isInt64 reports whether a number is an integer of at most 63 bits, however it is written.
func isInt64(n json.Number) bool {
	x, is := number.Exactly(n)
	return is && x.IsInt() && x.Num().BitLen() <= 63
}
