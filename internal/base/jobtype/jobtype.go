// Package jobtype has the job types that the program of a worker under test must have: one row for each. The fake
// workers, the situations, the help and the documents read these rows, and a test holds the samples against them.
package jobtype

import (
	"slices"
	"strings"
)

// Type is a job type, and what a job of it does.
type Type struct {
	Name string // "fwp.ok"
	Does string // a phrase: "succeeds at once, with any arguments"
	// Fails says that the job ends in an error, and TakesSeconds that it takes as many seconds as its first argument.
	Fails, TakesSeconds bool
	// IsOptional says that a worker without the type is tested without the situations that need it, and MayFail that it
	// may fail as well as succeed.
	IsOptional, MayFail bool
}

// The names of the types of workers of FWP.
const (
	OK    = "fwp.ok"
	Fail  = "fwp.fail"
	Sleep = "fwp.sleep"
	Echo  = "fwp.echo"
	Crash = "fwp.crash"
	Exit  = "fwp.exit"
	Block = "fwp.block"
	Push  = "fwp.push"
)

// Unknown is a type that no worker has.
const Unknown = "fwp.unknown"

// FWP returns those of workers of FWP.
func FWP() []Type {
	return []Type{
		{Name: OK, Does: "succeeds at once, with any arguments"},
		{Name: Fail, Does: "fails at once; its first argument, a string, is the error message", Fails: true},
		{Name: Sleep, Does: "runs for its first argument, a number of seconds, then succeeds", TakesSeconds: true},
		{Name: Echo, Does: "fails at once; the error message is the JSON text of all its arguments", Fails: true},
		{Name: Crash, Does: "ends its process at once (optional)", Fails: true, IsOptional: true},
		{
			Name: Exit, Does: "ends its thread, as sys.exit, exit and a panic do (optional)", IsOptional: true, MayFail: true,
		},
		{
			Name: Block, Does: "keeps a processor busy for its first argument, in seconds, then succeeds (optional)",
			TakesSeconds: true, IsOptional: true, MayFail: true,
		},
		{
			Name: Push, Does: "pushes its arguments, each a job as a JSON object, unchanged, with the library's own client, " +
				"eight at a time; fails if a push failed (optional)", IsOptional: true, MayFail: true,
		},
	}
}

// Workq returns those of workers of Workq, whose jobs have a payload in place of arguments.
func Workq() []Type {
	return []Type{
		{Name: OK, Does: "succeeds at once, with any result"},
		{Name: Fail, Does: "fails at once, with any result", Fails: true},
		{
			Name: Sleep, Does: "runs for its payload, a decimal number of seconds, then succeeds",
			TakesSeconds: true,
		},
		{Name: Echo, Does: "succeeds at once; its payload is the result, byte for byte"},
	}
}

// Find returns the type of a name, and reports whether there is one.
func Find(types []Type, name string) (Type, bool) {
	if i := slices.IndexFunc(types, func(t Type) bool { return t.Name == name }); i >= 0 {
		return types[i], true
	}
	return Type{}, false
}

// Names returns the names of the types.
func Names(types []Type) []string {
	names := make([]string, len(types))
	for i, t := range types {
		names[i] = t.Name
	}
	return names
}

// List returns the names as prose: "a, b and c".
func List(types []Type) string {
	names := Names(types)
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " and " + names[last]
}
