package explore

// Activity is what a run is doing.
type Activity uint8

// The activities of a run.
const (
	Exploring  Activity = iota // plays commands that it makes up
	Measuring                  // reads the memory of the server's process
	Shrinking                  // looks for a shorter conversation that shows a finding
	Confirming                 // plays the shrunk conversation again
	Loading                    // puts a load of many clients on the server
	CleaningUp                 // removes what it left on the server
)

// Progress is how far a run is.
type Progress struct {
	Activity Activity
	Commands int    // that were sent, without those that shrank findings
	Outcomes int    // different ones that were seen
	Finding  string // that is shrunk or confirmed: its clause, or its rule if it has none
	Done, Of int    // shrinking: steps that remain, of those that there were; confirming: plays
}

// Name returns what a finding is called: its clause, or its rule if it has none.
func (f *Finding) Name() string {
	if f.Clause == "" {
		return f.Rule
	}
	return f.Clause
}

// progress reports what an exploration is doing.
func (x *exploration) progress(a Activity) { x.report(Progress{Activity: a}) }

// report fills in what is counted over the whole exploration, and reports progress.
func (x *exploration) report(p Progress) {
	if x.Progress == nil {
		return
	}
	p.Commands, p.Outcomes = x.play.commands, len(x.result.Coverage.Outcomes)
	x.Progress(p)
}
