package reports

// Finding is a broken clause with the evidence of one place: a Fail, a Warn or a Crash. All that a run finds about one
// clause counts as one finding; see Broken.
type Finding struct {
	// Clause is the id of the clause that was broken; empty if the script names none.
	Clause    string  `json:"clause,omitempty"`
	Level     Level   `json:"level,omitempty"`
	Statement string  `json:"statement,omitempty"`
	Verdict   Verdict `json:"verdict"`
	Evidence
}

// Evidence is what was expected and received at one place of a check.
type Evidence struct {
	// Check is the id of the check; empty means the check that holds the finding.
	Check string `json:"check,omitempty"`
	// File, Line and Col are the place in a script: lines and characters counted from 1. Width is
	// the number of characters. Line is 0 if there is no such place, Col is 0 for the whole line.
	File  string `json:"file,omitempty"`
	Line  int    `json:"line,omitempty"`
	Col   int    `json:"col,omitempty"`
	Width int    `json:"width,omitempty"`
	// Source is the line of the script, without its end.
	Source string `json:"source,omitempty"`
	// Expected and Actual are what the clause asks for and what was received; they may have several lines.
	Expected string `json:"expected,omitempty"`
	Actual   string `json:"actual,omitempty"`
	// Differences lists the places in which a structured value differs, one each.
	Differences []string `json:"differences,omitempty"`
	// Close is how the connection ended, if it did: "the server reset the connection" for example.
	Close string `json:"close,omitempty"`
	// Seen is in how many runs it occurred, if there were several: "in 2 of 10 runs".
	Seen string `json:"seen,omitempty"`
	// Marked is the line of the conversation at which it was received, counted from 1; 0 if it is none of them.
	Marked int `json:"marked_line,omitempty"`
	// Conversation is given where it is not that of the check, but of another run of it.
	Conversation []Line `json:"conversation,omitempty"`
	// Known is the line, counted from 1, of the file of known findings that lists it; 0: none.
	Known int `json:"known_line,omitempty"`
	// Script shows it again, in the suite's language, where the check is not a script itself.
	Script string `json:"script,omitempty"`
	// Saved is the file that the script was saved in; empty if it was not.
	Saved string `json:"saved,omitempty"`
	// Reproduce is the command, on one line, that shows the finding again.
	Reproduce string `json:"reproduce,omitempty"`
}

// Broken is a finding of the run: a clause that is broken, however many checks show it in however many places; or a
// check that names no clause and fails.
type Broken struct {
	// Clause is empty if the check names none.
	Clause    string  `json:"clause,omitempty"`
	Level     Level   `json:"level,omitempty"`
	Statement string  `json:"statement,omitempty"`
	Verdict   Verdict `json:"verdict"`
	// Checks names the checks that show it.
	Checks []string `json:"checks"`
	// Symptoms are the places in the list of that name, counted from 0, where it is shown.
	Symptoms []int `json:"symptoms"`
}

// Symptom is one place of a check where something else was received than expected, with all that this breaks.
type Symptom struct {
	// Verdict is the worst of those on the clauses.
	Verdict Verdict  `json:"verdict"`
	Clauses []string `json:"clauses"`
	Evidence
}

// KnownCounts is a part of Counts.
type KnownCounts struct {
	Clauses int `json:"clauses"`
	Checks  int `json:"checks_without_clause"`
}

// Counts is what a run comes to.
type Counts struct {
	// Findings counts the findings by their verdict, but for the known ones.
	Findings map[Verdict]int `json:"findings"`
	// Clauses counts every clause once: with the verdict of its finding, or else with its own. A clause that no check
	// evaluates counts as not selected.
	Clauses map[Verdict]int `json:"clauses"`
	// Known counts the clauses, and the checks that name none, that are broken or inconclusive as a file of known
	// findings says. They are in none of the other counts.
	Known KnownCounts `json:"known,omitzero"`
	// Checks counts the checks that name no clause.
	Checks map[Verdict]int `json:"checks_without_clause"`
}
