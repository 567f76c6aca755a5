package reports

import (
	"maps"
	"slices"
	"strings"
)

// lifecycleStates holds the states of a connection, and lifecycleMoves its transitions, as the specification has them.
// (Client Lifecycle)
var lifecycleStates = [...]string{"not identified", "identified", "quiet", "terminating", "ended"}

var lifecycleMoves = [...][2]string{
	{"not identified", "identified"}, {"not identified", "ended"}, {"identified", "quiet"},
	{"identified", "terminating"}, {"identified", "ended"}, {"quiet", "terminating"}, {"terminating", "ended"},
}

// states returns the states of connections with how often a command met each, and the transitions that were seen.
func (e *Exploration) states() Figure {
	d := &Diagram{}
	node := func(name string) int {
		name = strings.TrimSuffix(name, " worker") // a role
		at := slices.IndexFunc(d.Nodes, func(n Node) bool { return n.Name == name })
		if at < 0 {
			at, d.Nodes = len(d.Nodes), append(d.Nodes, Node{Name: name})
		}
		return at
	}
	edge := func(from, to, times int) {
		if have := find(d.Edges, func(e *Edge) bool { return e.From == from && e.To == to }); have != nil {
			have.Count += times
			return
		}
		d.Edges = append(d.Edges, Edge{from, to, times})
	}
	for _, name := range lifecycleStates {
		node(name)
	}
	for _, t := range lifecycleMoves {
		edge(node(t[0]), node(t[1]), 0)
	}
	for _, name := range slices.Sorted(maps.Keys(e.States)) {
		d.Nodes[node(name)].Count += e.States[name]
	}
	for _, name := range slices.Sorted(maps.Keys(e.Transitions)) {
		if from, to, ok := strings.Cut(name, " > "); ok {
			edge(node(from), node(to), e.Transitions[name])
		}
	}
	return Figure{
		Title: "States of connections", Of: d,
		Description: "How many commands met each state, and how often a connection went from one to another. What is " +
			"dotted was not reached.",
	}
}
