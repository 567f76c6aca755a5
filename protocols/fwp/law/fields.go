package law

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/conformance/law"
	"github.com/fwpsuite/fwp/internal/base/number"
)

// judgeFields compares a delivered job with what was pushed, field by field. (Work units) A value that differs is
// assumed to be the server's way, so that the fields behind it are compared as well. Of several differences it returns
// the first one that was not told before, in this place.
func (w *World) judgeFields(j *Job, f map[string]any, now time.Time) (violation *law.Violation) {
	times := func(f map[string]any) *law.Violation { return j.judgeTimes(f, now) }
	failures := func(f map[string]any) *law.Violation { return j.judgeFailure(f, now) }
	enqueuedAt := func(f map[string]any) *law.Violation { return j.judgeEnqueuedAt(f, now) }
	stamps := func(f map[string]any) *law.Violation { return w.judgeStamps(j, f, now) }
	stray := func(f map[string]any) *law.Violation { return w.judgeStray(j, f) }
	checks := []func(map[string]any) *law.Violation{
		j.judgeLetters, j.judgeUnchanged, j.judgeDefaults, j.judgeCreatedAt, times, failures, enqueuedAt, stamps, stray,
	}
	fields := map[string]bool{}
	if j.isRequeued { // when it was enqueued is not laid down
		checks = append(checks[:4], failures, stray)
	}
	if j.Unjudged == PerhapsTaken { // the others depend on what was done with the job
		checks = checks[:4]
	}
	for _, check := range checks {
		for v := check(f); v != nil; v = check(f) {
			field, _, _ := strings.Cut(v.Got, ":")
			if fields[field] {
				break
			}
			fields[field], v.Rule, v.JID = true, "field", j.JID
			v.Place = field + ": " + kindOf(j.pushFields[field]) + ", came " + kindOf(f[field])
			if violation == nil || w.reportedFields[violation.Clause+violation.Place] && !w.reportedFields[v.Clause+v.Place] {
				violation = v
			}
			j.assume(field, f[field])
		}
	}
	if violation != nil {
		w.reportedFields[violation.Clause+violation.Place] = true
	}
	return violation
}

// Difference returns how a job differs that came back long after its PUSH, or after a FAIL if failure has the argument
// of one, from what was sent. Times of the server's are not compared. It returns nil if nothing differs.
func Difference(sent, failure, got map[string]any) *law.Violation {
	j := newJob(sent)
	for _, check := range [...]func(map[string]any) *law.Violation{j.judgeLetters, j.judgeUnchanged, j.judgeDefaults,
		j.judgeCreatedAt} {
		if v := check(got); v != nil {
			return v
		}
	}
	if failure == nil {
		return nil
	}
	f, ok := got["failure"].(map[string]any)
	if !ok {
		return fieldViolation("FWP-WU-13", "failure", "object", got["failure"])
	}
	j.failure = failure
	return j.judgeDescription(got, joinTexts(f), time.Time{})
}

// assume takes a value that differs from what was pushed as the server's way with the job. What comes of a job whose
// reservation may last for another time is not known, nor how often one is tried whose retry is another.
func (j *Job) assume(field string, value any) {
	if j.assumedFields == nil {
		j.assumedFields = map[string]any{}
	}
	switch j.assumedFields[field] = value; field {
	case "reserve_for":
		j.Unjudged = Reported
	case "retry":
		j.isUncertain = true
	}
}

// isSame reports whether a field came as it was pushed, or as it did before.
func (j *Job) isSame(f map[string]any, field string) bool {
	return Equal(j.pushFields[field], f[field]) || j.isAssumed(f, field)
}

// IsChanged reports whether a field came with another value than was pushed.
func (j *Job) IsChanged(field string) bool {
	_, ok := j.assumedFields[field]
	return ok
}

// isAssumed reports whether a field came as it did before, when that was not as it was pushed.
func (j *Job) isAssumed(f map[string]any, field string) bool {
	value, ok := j.assumedFields[field]
	return ok && Equal(value, f[field])
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

// judgeLetters judges whether letters beyond ASCII were kept at all.
func (j *Job) judgeLetters(f map[string]any) *law.Violation {
	hasLetters := func(f map[string]any) bool {
		return strings.ContainsFunc(formatJSON(f["jobtype"])+formatJSON(f["args"]), notASCII)
	}
	if hasLetters(f) || !hasLetters(j.pushFields) {
		return nil
	}
	field := "args"
	if Equal(j.pushFields["args"], f["args"]) {
		field = "jobtype"
	}
	return fieldViolation("FWP-FRAME-09", field, formatJSON(j.pushFields[field]), f[field])
}

// judgeEnqueuedAt judges whether enqueued_at of a job that came back is that of its last time.
func (j *Job) judgeEnqueuedAt(f map[string]any, now time.Time) *law.Violation {
	at, _ := f["enqueued_at"].(string)
	if j.enqueuedAt == "" || j.stopState == stateUnknown || at != j.enqueuedAt ||
		now.Sub(j.firstDelivery) <= 15*time.Second {
		return nil
	}
	if t, ok := parseInstant(at); ok && j.lossTime().Sub(t) < 2*time.Second { // it may be true, where clocks are coarse
		return nil
	}
	ago := max(0, now.Sub(j.lossTime())-time.Second/2)
	v := fieldViolation("FWP-WU-12", "enqueued_at", fmt.Sprintf("time($now-%dms..)", ago.Milliseconds()), at)
	v.Doubtful = true // or the job was given out twice
	v.Detail = "it was enqueued again since"
	return v
}

// lossTime returns when its worker last lost the job.
func (j *Job) lossTime() time.Time {
	if j.failTime.After(j.lastDelivery) || j.failTime.Equal(j.lastDelivery) {
		return j.failTime
	}
	return j.reservationEnd
}

func notASCII(r rune) bool { return r > 0x7f }

func fieldViolation(clause, field, want string, got any) *law.Violation {
	return &law.Violation{Clause: clause, Expected: fmt.Sprintf("${%q:%s}", field, want), Got: show(field, got)}
}

func show(field string, value any) string {
	b, _ := json.Marshal(value)
	if value == nil {
		b = []byte("null or absent")
	}
	return fmt.Sprintf("%s: %.200s", field, b)
}

func formatJSON(v any) string {
	b, _ := json.Marshal(v)
	return string(b)
}

// judgeUnchanged judges the fields that come back unchanged.
func (j *Job) judgeUnchanged(f map[string]any) *law.Violation {
	switch {
	case !j.isSame(f, "jobtype"):
		return fieldViolation("FWP-WU-02", "jobtype", formatJSON(j.pushFields["jobtype"]), f["jobtype"])
	case !j.isSame(f, "args"):
		return fieldViolation("FWP-WU-03", "args", "="+formatJSON(j.pushFields["args"]), f["args"])
	case f["queue"] != nil && f["queue"] != j.Queue && !j.isPhrase():
		return fieldViolation("FWP-WU-04", "queue", formatJSON(j.Queue), f["queue"])
	}
	custom, _ := j.pushFields["custom"].(map[string]any)
	got, isObject := f["custom"].(map[string]any)
	switch {
	case j.isAssumed(f, "custom"):
	case custom == nil && (f["custom"] != nil): // AMB-18
		return fieldViolation("FWP-WU-11", "custom", "null | absent", f["custom"])
	case len(custom) == 0 && f["custom"] == nil: // nothing was said by an empty one
	case !isObject || !Equal(custom, got):
		return fieldViolation("FWP-WU-11", "custom", "="+formatJSON(custom), f["custom"])
	}
	return nil
}

// judgeDefaults judges the numbers, which a server need not give back. (AMB-18)
func (j *Job) judgeDefaults(f map[string]any) *law.Violation {
	for _, d := range []struct {
		name          string
		value         int64
		clause, other string
	}{
		{"retry", 25, "FWP-WU-07", "FWP-RETRY-04"},
		{"backtrace", 0, "FWP-WU-09", "FWP-WU-08"},
		{"reserve_for", 1800, "FWP-WU-05", "FWP-WU-05"},
	} {
		want, sent := integer(j.pushFields[d.name])
		clause := d.clause
		switch {
		// AMB-17
		case sent && d.name == "reserve_for" && want < 60, !sent && j.pushFields[d.name] != nil, j.isAssumed(f, d.name):
			continue
		case !sent:
			want, clause = d.value, d.other
		}
		if f[d.name] != nil && !Equal(json.Number(fmt.Sprint(want)), f[d.name]) {
			return fieldViolation(clause, d.name, fmt.Sprintf("%d | null | absent", want), f[d.name])
		}
	}
	return nil
}

// judgeCreatedAt judges created_at, which the client may leave to the server.
func (j *Job) judgeCreatedAt(f map[string]any) *law.Violation {
	created, ok := parseInstant(f["created_at"])
	sent, isGiven := parseInstant(j.pushFields["created_at"])
	switch {
	case !ok:
		return fieldViolation("FWP-WU-10", "created_at", "time", f["created_at"])
	case isGiven && !isRounded(created, sent):
		return fieldViolation("FWP-WU-10", "created_at", fmt.Sprintf("time(%[1]s..%[1]s)", j.pushFields["created_at"]),
			f["created_at"])
	}
	return nil
}

// judgeTimes judges enqueued_at and at, as far as the clock of the server does not matter.
func (j *Job) judgeTimes(f map[string]any, now time.Time) *law.Violation {
	created, _ := parseInstant(f["created_at"])
	_, isGiven := parseInstant(j.pushFields["created_at"])
	enqueued, isStamped := parseInstant(f["enqueued_at"])
	at, isScheduled := parseInstant(j.pushFields["at"])
	switch {
	case !isStamped:
		return fieldViolation("FWP-WU-12", "enqueued_at", "time", f["enqueued_at"])
	case isScheduled && enqueued.Before(at.Add(-time.Second)):
		return j.earlyViolation(now.Before(at) || !isGiven && enqueued.Sub(created) > time.Second, f)
	case j.pushFields["enqueued_at"] != nil && f["enqueued_at"] == j.pushFields["enqueued_at"]:
		return fieldViolation("FWP-WU-12", "enqueued_at", "time($now-1h..$now+2h)", f["enqueued_at"])
	case isGiven && enqueued.Equal(created) && now.Sub(created) > 24*time.Hour:
		return fieldViolation("FWP-WU-12", "enqueued_at", "time($now-2h..$now+2h)", f["enqueued_at"])
	}
	if back, ok := parseInstant(f["at"]); isScheduled && ok && j.enqueuedAt == "" && !isNear(at, back) {
		return fieldViolation("FWP-WU-06", "at", formatJSON(j.pushFields["at"]), f["at"])
	}
	return nil
}

// earlyViolation is the violation that a job was enqueued before it was due, by its enqueued_at: the job was itself, or
// the time of its PUSH stands there.
func (j *Job) earlyViolation(itself bool, f map[string]any) *law.Violation {
	clause := "FWP-WU-12"
	if itself {
		clause = "FWP-WU-06"
	}
	v := fieldViolation(clause, "enqueued_at", fmt.Sprintf("time(%s..)", j.pushFields["at"]), f["enqueued_at"])
	v.Expected += " | $-1"
	return v
}

// judgeStamps judges what the server writes by its own clock: when a job was created, unless the client has said that,
// and when it was enqueued last. (Optional fields, created_at; Read-only fields, enqueued_at; AMB-36)
func (w *World) judgeStamps(j *Job, f map[string]any, now time.Time) *law.Violation {
	_, isGiven := parseInstant(j.pushFields["created_at"])
	created, _ := parseInstant(f["created_at"])
	enqueued, _ := parseInstant(f["enqueued_at"])
	if !isGiven && !j.createdAt.IsZero() && !isNear(j.createdAt, created) {
		return fieldViolation("FWP-WU-10", "created_at", fmt.Sprintf("time(%[1]s..%[1]s)",
			j.createdAt.Format(time.RFC3339Nano)),
			f["created_at"])
	}
	j.createdAt = created
	from, to := j.enqueueWindow(now)
	clock := w.clock
	isCreated := isGiven || clock.Agrees(created, j.pushTime, j.pushEnd(now))
	isEnqueued := clock.Agrees(enqueued, from, to)
	if isCreated && isEnqueued {
		w.clock = clock
		return nil
	}
	clause, field := "FWP-WU-12", "enqueued_at"
	if !isGiven && created.Sub(j.pushTime).Abs() > enqueued.Sub(from).Abs() {
		clause, field, from, to = "FWP-WU-10", "created_at", j.pushTime, j.pushEnd(now)
	}
	from, to, ok := w.clock.Between(from, to)
	if !ok { // the two do not agree, and which clock the server has is not known
		from, to = from.Add(-time.Hour), to.Add(time.Hour)
	}
	v := fieldViolation(clause, field, fmt.Sprintf("time($now-%dms..$now+%dms)",
		max(0, now.Sub(from).Milliseconds()), max(0, to.Sub(now).Milliseconds())), f[field])
	v.Doubtful = j.enqueuedAt != "" // or the job was given out twice
	return v
}

// pushEnd returns until when the PUSH of the job was carried out at the latest.
func (j *Job) pushEnd(now time.Time) time.Time {
	if j.answerTime.IsZero() {
		return now
	}
	return j.answerTime
}

// enqueueWindow returns the moments between which the job was enqueued last, by our clock.
func (j *Job) enqueueWindow(now time.Time) (from, to time.Time) {
	_, isScheduled := j.pushFields["at"]
	switch {
	case j.enqueuedAt == "" && !isScheduled && !j.wasRestarted && !j.isUncertain:
		return j.pushTime, j.pushEnd(now)
	case j.enqueuedAt != "" && j.Failures > 0 && !j.isUncertain:
		return j.failTime, now
	}
	return j.pushTime, now
}

func parseInstant(v any) (time.Time, bool) {
	s, _ := v.(string)
	t, err := number.ParseTime(s)
	return t, err == nil
}

// isRounded reports whether an instant is the one that was sent, but for digits that were cut off or rounded.
func isRounded(got, sent time.Time) bool {
	for unit := time.Microsecond; unit <= time.Second; unit *= 10 {
		if got.Equal(sent.Truncate(unit)) || got.Equal(sent.Round(unit)) {
			return true
		}
	}
	return got.Sub(sent).Abs() < time.Microsecond
}

func isNear(a, b time.Time) bool { return a.Sub(b).Abs() < time.Second }

// joinTexts returns all strings of a value, joined.
func joinTexts(v any) string {
	switch x := v.(type) {
	case string:
		return x + "\n"
	case []any:
		var b strings.Builder
		for _, e := range x {
			b.WriteString(joinTexts(e))
		}
		return b.String()
	case map[string]any:
		var b strings.Builder
		for _, e := range x {
			b.WriteString(joinTexts(e))
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
	x, ok := number.Rational(n)
	return ok && x.IsInt() && x.Num().BitLen() <= 63
}
