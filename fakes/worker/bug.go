package worker

import (
	"cmp"
	_ "embed"
	"slices"
	"time"

	"github.com/fwpsuite/fwp/fakes/catalogue"
	"github.com/fwpsuite/fwp/protocols/fwp"
)

// Bug is a way in which a worker breaks the specification.
type Bug struct {
	// Name is a slug that never changes.
	Name string

	// Clauses may fail because of it; the first one fails whenever a situation decides it. No other clause may fail.
	Clauses []string

	// Summary describes the worker's behaviour in one sentence.
	Summary string

	// Configure adds the bug to a [Config]. Every worker needs a call of its own, since some bugs have state.
	Configure func(*Config)
}

// Bugs returns the catalogue of workers, sorted by name.
func Bugs() []Bug {
	return sortRows(helloBugs, lineBugs, stateBugs, lossBugs, jobBugs, failBugs, executorBugs)
}

// clientRows are the bugs of workers that producers can have too.
var clientRows = []string{
	"hello-without-v", "hi-strict", "hi-exact", "hi-newer-refused", "hash-missing", "hash-one-round",
	"hash-password-escaped", "hash-leading-zeros", "hello-refusal-ignored", "line-lf", "end-missing",
	"end-with-space", "connection-for-each-command", "connections-left-open", "provider-ignored",
}

// ProducerBugs returns the catalogue for producers, see [Worker.Produce], sorted by name.
func ProducerBugs() []Bug {
	shared := slices.DeleteFunc(Bugs(), func(f Bug) bool { return !slices.Contains(clientRows, f.Name) })
	return sortRows(shared, producerBugs, producerLossBugs)
}

func sortRows(lists ...[]Bug) []Bug {
	all := slices.Concat(lists...)
	slices.SortFunc(all, func(a, b Bug) int { return cmp.Compare(a.Name, b.Name) })
	return all
}

//go:embed bugs.txt
var bugsText string

var bugsTable = catalogue.LazyTable("fakes/worker/bugs.txt", bugsText)

//go:embed variations.txt
var variationsText string

var variationsTable = catalogue.LazyTable("fakes/worker/variations.txt", variationsText)

// bug returns one that a hook makes, or a function that makes a hook for each worker because it remembers something.
// The name is that of a row of bugs.txt.
func bug[H catalogue.Hook[Event]](name string, hook H) Bug {
	made := catalogue.BugOf[Event](bugsTable(), name, hook)
	return Bug{
		Name: name, Clauses: made.Clauses, Summary: made.Summary,
		Configure: func(c *Config) { c.Hook = made.Hook() },
	}
}

// setting returns a bug of the configuration.
func setting(name string, configure func(*Config)) Bug {
	f := bug(name, skip)
	f.Configure = configure
	return f
}

// at returns the condition that a step is at a point.
func at(p Point) func(*Event) bool { return func(e *Event) bool { return e.Point == p } }

// sends returns the condition that a command of a verb is about to be sent; "" means any.
func sends(verb string) func(*Event) bool {
	return func(e *Event) bool { return e.Point == Sending && (verb == "" || e.Verb == verb) }
}

// replyTo returns the condition that a verb is answered; "" means any.
func replyTo(verb string) func(*Event) bool {
	return func(e *Event) bool { return e.Point == Replied && (verb == "" || e.Verb == verb) }
}

// isRefusal returns the condition that a verb is answered with an error.
func isRefusal(verb string) func(*Event) bool { return catalogue.All(replyTo(verb), isError) }

// isOrdered returns the condition that the worker is to enter a state.
func isOrdered(state string) func(*Event) bool {
	return func(e *Event) bool { return e.Point == Ordered && e.State == state }
}

// fetches is the condition that a worker is about to fetch.
func fetches(e *Event) bool { return e.Point == Fetching && !e.Skip }

// isError is the condition of an error reply.
func isError(e *Event) bool { return e.Reply.Kind == fwp.ErrorReply }

// actAt returns a hook that acts at one point only.
func actAt(p Point, act func(*Event)) func(*Event) { return catalogue.ActIf(at(p), act) }

// actOnSend returns a hook that acts before the commands of a verb; "" means any.
func actOnSend(verb string, act func(*Event)) func(*Event) { return catalogue.ActIf(sends(verb), act) }

// actOnReply returns a hook that acts on the replies to a verb.
func actOnReply(verb string, act func(*Event)) func(*Event) {
	return catalogue.ActIf(replyTo(verb), act)
}

// actOnFail returns a hook that acts on the reports of jobs that did not succeed.
func actOnFail(act func(*Event)) func(*Event) {
	return catalogue.ActIf(func(e *Event) bool { return e.Point == Ran && e.Outcome != Succeeded }, act)
}

// skipFirst returns hooks that skip the first step for which a condition holds.
func skipFirst(match func(*Event) bool) func() func(*Event) {
	return catalogue.WithMemory(match, func(hasSkipped *bool, e *Event) { e.Skip, *hasSkipped = !*hasSkipped, true })
}

// skip suppresses the step.
func skip(e *Event) { e.Skip = true }

// repeat repeats the step.
func repeat(e *Event) { e.Repeat = true }

// answerOK takes any reply for OK.
func answerOK(e *Event) { e.Reply = ok() }

func ok() fwp.Reply { return fwp.Reply{Kind: fwp.SimpleString, Text: []byte("OK")} }

// exit returns a step that ends the worker at once.
func exit(code int) func(*Event) { return func(e *Event) { e.Worker.Exit(code) } }

// postponeFetch returns a step that puts off a FETCH.
func postponeFetch(d time.Duration) func(*Event) { return func(e *Event) { e.Skip, e.Delay = true, d } }

// field returns a step that sets a field; nil removes it.
func field(name string, value any) func(*Event) {
	return func(e *Event) {
		if delete(e.Fields, name); value != nil {
			e.Fields[name] = value
		}
	}
}

// fill returns a step that sets a field that is not there.
func fill(name string, value any) func(*Event) {
	return func(e *Event) {
		if e.Fields[name] == nil {
			e.Fields[name] = value
		}
	}
}

// Variation is a way in which a worker differs from others and conforms.
type Variation = catalogue.Variation[Config]

// Variations returns the catalogue of workers, sorted by name.
func Variations() []Variation { return catalogue.SortVariations(lineVariations, jobVariations) }

// producerRows are the variations of workers that producers can have too.
var producerRows = []string{
	"hello-more-fields", "hello-late", "hash-upper-case", "json-spaces", "json-ascii", "line-in-pieces",
	"end-reply-unread",
}

// ProducerVariations returns the permitted variations of producers, sorted by name.
func ProducerVariations() []Variation {
	shared := slices.DeleteFunc(Variations(), func(v Variation) bool { return !slices.Contains(producerRows, v.Name) })
	return catalogue.SortVariations(shared, producerVariations)
}

// variation returns one that a hook makes, or a function that makes a hook for each worker because it remembers
// something.
func variation[H catalogue.Hook[Event]](name string, hook H) Variation {
	maker := catalogue.Maker[Event](hook)
	return settingVariation(name, func(c *Config) { c.Hook = maker() })
}

// settingVariation returns the variation of a row of variations.txt.
func settingVariation(name string, configure func(*Config)) Variation {
	return catalogue.VariationOf(variationsTable(), name, configure)
}
