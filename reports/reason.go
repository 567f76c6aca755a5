package reports

// ReasonCode is the code of the cause of a verdict without a result: inconclusive, not run or skipped. Checks with the
// same code are listed together, whatever the words of their causes.
type ReasonCode string

// The reasons. Those of what was skipped are "needs-" and the need: "needs-password" for example.
const (
	ReasonLag         ReasonCode = "lag"
	ReasonPatience    ReasonCode = "patience"
	ReasonSetUp       ReasonCode = "set-up"
	ReasonOtherClause ReasonCode = "other-clause"
	ReasonOtherBreach ReasonCode = "other-breach"
	ReasonOutOfStep   ReasonCode = "out-of-step"
	ReasonRefused     ReasonCode = "refused"
	ReasonConnections ReasonCode = "connections"
	ReasonNotServing  ReasonCode = "not-serving"
	ReasonGoal        ReasonCode = "goal"
	ReasonTooLittle   ReasonCode = "too-little"
	ReasonUnable      ReasonCode = "unable"
	ReasonTime        ReasonCode = "time"
	ReasonStopped     ReasonCode = "stopped"
	ReasonInterrupted ReasonCode = "interrupted"
	ReasonInternal    ReasonCode = "internal"
)

// reasonWords says what each reason stands for.
var reasonWords = map[ReasonCode]string{
	ReasonLag:         "this machine was late, which may be the reason for what was received",
	ReasonPatience:    "a quick run does not wait as long as the server may take",
	ReasonSetUp:       "a line that prepares the check did not match",
	ReasonOtherClause: "a line that tests another clause did not match",
	ReasonOtherBreach: "the server broke another clause meanwhile",
	ReasonOutOfStep:   "replies could not be matched with commands",
	ReasonRefused:     "the server did not let a connection in",
	ReasonConnections: "the server has too few connections for the check",
	ReasonNotServing:  "the server no longer served",
	ReasonGoal:        "what the clause is about never happened",
	ReasonTooLittle:   "too little of it could be evaluated",
	ReasonUnable:      "a limit of this suite",
	ReasonTime:        "the time of the run was over",
	ReasonStopped:     "the run stopped at the first finding",
	ReasonInterrupted: "the run was interrupted",
	ReasonInternal:    "an internal error of the suite",
}

// Words returns what the reason stands for, in one sentence without a full stop; empty for one that is not known.
func (r ReasonCode) Words() string { return reasonWords[r] }
