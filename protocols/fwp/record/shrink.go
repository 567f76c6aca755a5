package record

import (
	"context"
	"fmt"
	"maps"
	"net"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/conformance/law"
	"github.com/fwpsuite/fwp/internal/base/machine"
	"github.com/fwpsuite/fwp/internal/base/text"
	"github.com/fwpsuite/fwp/protocols/fwp/clientrules"
	"github.com/fwpsuite/fwp/scenarios"
	"github.com/fwpsuite/fwp/scenarios/play"
)

// Shrinker plays scripts on a server, with a Recorder between, and leaves out steps as long as a finding stays.
type Shrinker struct {
	// Target is the server, which the caller may change as the script says.
	Target   play.Target
	Password string
	// IsUnwatched says that the scripts are of another protocol than FWP, whose clients no Recorder can judge: the
	// findings are those of the play alone.
	IsUnwatched bool
	// Law is that of the protocol; without Start no law judges.
	Law law.Definition
	// Simplify tries plainer forms of a client line, each made from the one that was accepted last; nil: there are none.
	Simplify func(line string, try func(plainer string) bool)
	// Timeout is the longest wait for a reply; 5 s if zero.
	Timeout time.Duration
	// Plays counts the plays so far.
	Plays int
}

// Findings plays a script and returns what is found, in a fixed order: the names of breaches of either side,
// "mismatch: " with the line and what was received for each line that did not match, "not serving" if the server serves
// no more, and behind them "law/" with a rule and its clause for what the law finds besides. The error is
// that of a play that could not be carried out.
func (s *Shrinker) Findings(ctx context.Context, script *scenarios.Script) ([]string, error) {
	s.Plays++
	found := map[string]bool{}
	run, err := s.play(ctx, script, found)
	if err != nil {
		return nil, err
	}
	for _, b := range run.Breaches {
		found[b.Name()] = true
	}
	for _, result := range run.Results {
		if result.Outcome == play.Mismatched && result.Line > 0 {
			line := strings.TrimSpace(script.Source[result.Line-1])
			found["mismatch: "+line+", got "+generatedName.ReplaceAllString(text.Shorten(result.Got), "*")] = true
		}
	}
	if run.NotServing != "" {
		found["not serving"] = true
	}
	sorted := slices.Sorted(maps.Keys(found))
	isByLaw := func(name string) bool { return strings.HasPrefix(name, LawPrefix) }
	others := slices.DeleteFunc(slices.Clone(sorted), isByLaw)
	return append(others, slices.DeleteFunc(sorted, func(name string) bool { return !isByLaw(name) })...), nil
}

// watch has the law judge what a player does, if there is one. The function that it returns adds what that has found.
func (s *Shrinker) watch(player *play.Player, names string, found map[string]bool) (add func()) {
	if s.Law.Start == nil {
		return func() {}
	}
	watch := law.NewWatch(s.Law, law.Terms{
		NamePrefix: names, Password: s.Password, Patience: player.Patience, Slack: machine.Allowance,
	})
	player.Observer = watch
	return func() {
		for _, v := range watch.Occurrences() { // shown by every play, it is proven
			found[LawPrefix+v.Rule+" "+v.Clause] = true
		}
	}
}

// play plays a script, with a Recorder between unless the Shrinker is IsUnwatched: the breaches of clients that it sees
// are added to found.
func (s *Shrinker) play(
	ctx context.Context, script *scenarios.Script, found map[string]bool,
) (run *play.Run, err error) {
	player := &play.Player{
		Target: s.Target, Password: s.Password, Timeout: s.timeout(), Patience: 4 * s.timeout(),
	}
	names := fmt.Sprintf("fwp-shrink-%d-%d", time.Now().UnixNano(), s.Plays)
	defer s.watch(player, names, found)()
	if s.IsUnwatched {
		run = player.Play(ctx, script, names)
		return run, run.Err
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	r := New(Config{Dial: s.Target.Dial, Watch: clientrules.Config{Password: s.Password}})
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = r.Serve(ctx, l) // it says that l is closed
	}()
	player.Target = recordedTarget{s.Target, l.Addr().String()}
	run = player.Play(ctx, script, names)
	_ = l.Close()
	<-served
	r.Close()
	for _, result := range r.Summary().Results {
		if result.Breaches > 0 && !isServerRule(result.Rule) && result.Rule.Breach != clientrules.FetchWithoutWid {
			found[result.Rule.Breach] = true
		}
	}
	return run, run.Err
}

// isServerRule reports whether a rule is about the server. What the server does wrong is seen by the play, which knows
// its own lines from the questions that it asks beside them. (A FETCH without a wid is the play's own: so it removes
// the jobs that a script has left.)
func isServerRule(rule clientrules.Rule) bool {
	return slices.ContainsFunc(clientrules.ServerRules(), func(r clientrules.Rule) bool { return r.Breach == rule.Breach })
}

// generatedName is what looks like a name that is different in each play.
var generatedName = regexp.MustCompile(`[0-9a-zA-Z-]*[0-9][0-9a-zA-Z-]{7,}`)

func (s *Shrinker) timeout() time.Duration {
	if s.Timeout > 0 {
		return s.Timeout
	}
	return 5 * time.Second
}

// recordedTarget is a server behind a Recorder.
type recordedTarget struct {
	play.Target
	addr string
}

func (t recordedTarget) Dial(ctx context.Context) (net.Conn, error) {
	return new(net.Dialer).DialContext(ctx, "tcp", t.addr)
}

// Shrink returns the script without the steps that a finding does not need: first without whole connections, then
// without commands together with their replies. It plays until nothing more can be left out, or ctx has ended, and
// makes the lines that are left plainer. The script must have been parsed, and show the finding.
func (s *Shrinker) Shrink(ctx context.Context, script *scenarios.Script, finding string) *scenarios.Script {
	for {
		smaller := s.leaveOut(ctx, script, finding, byConnection)
		smaller = s.leaveOut(ctx, smaller, finding, byExchange)
		if ctx.Err() != nil || len(smaller.Steps) == len(script.Steps) {
			return s.simplifyLines(ctx, smaller, finding)
		}
		script = smaller
	}
}

// simplifyLines tries plainer forms of each line that a client sends. One that shows something new is no plainer one: a
// line that expects what is no longer there, for example.
func (s *Shrinker) simplifyLines(ctx context.Context, script *scenarios.Script, finding string) *scenarios.Script {
	before, err := s.Findings(ctx, script)
	if err != nil || s.Simplify == nil {
		return script
	}
	for i, step := range script.Steps {
		send, ok := step.(*scenarios.Send)
		if !ok || send.Raw || send.Bytewise || len(send.Segments) != 1 {
			continue
		}
		s.Simplify(send.Segments[0].String(), func(line string) bool {
			segments, err := scenarios.ParseTemplate(script.Dialect, line)
			if err != nil || ctx.Err() != nil {
				return false
			}
			next, other := *script, *send
			other.Segments, next.Steps = segments, slices.Clone(script.Steps)
			next.Steps[i] = &other
			parsed := reparse(&next)
			if parsed == nil {
				return false
			}
			found, err := s.Findings(ctx, parsed)
			isNew := func(name string) bool { return !slices.Contains(before, name) }
			hasFinding := err == nil && slices.Contains(found, finding) && !slices.ContainsFunc(found, isNew)
			if hasFinding {
				script = parsed
			}
			return hasFinding
		})
	}
	return script
}

// leaveOut leaves out groups of steps.
func (s *Shrinker) leaveOut(
	ctx context.Context, script *scenarios.Script, finding string, group func([]scenarios.Step) []int,
) *scenarios.Script {
	groups := group(script.Steps)
	smallest := script
	play.Shorten(ctx, slices.Compact(slices.Sorted(slices.Values(groups))),
		func(ctx context.Context, selection []int) bool {
			smaller := selectGroups(script, groups, selection)
			if smaller == nil {
				return false
			}
			found, err := s.Findings(ctx, smaller)
			hasFinding := err == nil && slices.Contains(found, finding)
			if hasFinding {
				smallest = smaller
			}
			return hasFinding
		})
	return smallest
}

// selectGroups returns a script with the steps of some groups alone, nil if that cannot be played.
func selectGroups(script *scenarios.Script, groups, selection []int) *scenarios.Script {
	smaller := *script
	smaller.Steps = nil
	for i, step := range script.Steps {
		if slices.Contains(selection, groups[i]) {
			smaller.Steps = append(smaller.Steps, step)
		}
	}
	return reparse(&smaller)
}

// reparse returns a script of the same steps, nil if it cannot be played. What breaks the protocol is marked.
func reparse(script *scenarios.Script) *scenarios.Script {
	marked, err := scenarios.Parse(script.Dialect, script.Name, scenarios.Format(script)) // with steps of its own
	if err != nil {
		return nil
	}
	scenarios.MarkBad(marked)
	parsed, err := scenarios.Parse(script.Dialect, script.Name, scenarios.Format(marked))
	if err != nil || slices.ContainsFunc(scenarios.Lint(parsed), func(p *scenarios.Problem) bool { return !p.Advice }) {
		return nil
	}
	return parsed
}

// byConnection groups the steps of each connection; what is of none is a group of its own.
func byConnection(steps []scenarios.Step) []int {
	groupOf, next := map[string]int{}, 0
	groups := make([]int, len(steps))
	for i, step := range steps {
		conn, hasConn := connOf(step)
		at, ok := groupOf[conn]
		if !hasConn || !ok {
			at = next
			next++
		}
		if hasConn {
			groupOf[conn] = at
		}
		groups[i] = at
	}
	return groups
}

// byExchange groups a command with its reply; the reply to the connect is the greeting. All else is a group of its own.
func byExchange(steps []scenarios.Step) []int {
	awaits, next := map[string][]int{}, 0
	groups := make([]int, len(steps))
	for i, step := range steps {
		conn, _ := connOf(step)
		_, isReply := step.(*scenarios.Expect)
		if isReply && len(awaits[conn]) > 0 {
			groups[i] = awaits[conn][0]
			awaits[conn] = awaits[conn][1:]
			continue
		}
		groups[i] = next
		if expectsReply(step) {
			awaits[conn] = append(awaits[conn], next)
		}
		next++
	}
	return groups
}

func expectsReply(step scenarios.Step) bool {
	switch s := step.(type) {
	case *scenarios.Connect:
		return s.Role == scenarios.Raw
	case *scenarios.Send:
		return s.Ending == scenarios.Open
	}
	return false
}

func connOf(step scenarios.Step) (conn string, ok bool) {
	switch s := step.(type) {
	case *scenarios.Connect:
		return s.Conn, true
	case *scenarios.Send:
		return s.Conn, true
	case *scenarios.Expect:
		return s.Conn, true
	}
	return "", false
}
