package reports

// Level is how strongly the specification asks for what a clause states. Its value is the word that is printed.
type Level string

const (
	// LevelMust: the sentence says MUST (or REQUIRED, or SHALL).
	LevelMust Level = "MUST"
	// LevelMustNot: the sentence says MUST NOT (or SHALL NOT).
	LevelMustNot Level = "MUST NOT"
	// LevelShould: the sentence says SHOULD, should or recommended.
	LevelShould Level = "SHOULD"
	// LevelShouldNot: the sentence says SHOULD NOT.
	LevelShouldNot Level = "SHOULD NOT"
	// LevelMay: the sentence says MAY (or OPTIONAL), or allows something in other words.
	LevelMay Level = "MAY"
	// LevelPlain: the sentence states a fact without any key word, and is taken as required.
	LevelPlain Level = "plain"
	// LevelDerived: it follows from several sentences, from a table, or from a document beside it.
	LevelDerived Level = "derived"
	// LevelNote: what the target does is recorded, and is never a failure.
	LevelNote Level = "note"
)

// levelWords explains each level to a reader who has not seen the specification.
var levelWords = map[Level]string{
	LevelMust:      "required",
	LevelMustNot:   "forbidden",
	LevelShould:    "recommended",
	LevelShouldNot: "not recommended",
	LevelMay:       "optional",
	LevelPlain:     "stated as a fact",
	LevelDerived:   "follows from the specification",
	LevelNote:      "recorded, never a failure",
}

// Levels returns all levels, the strongest first.
func Levels() []Level {
	return []Level{LevelMust, LevelMustNot, LevelShould, LevelShouldNot, LevelMay, LevelPlain, LevelDerived, LevelNote}
}

// Valid reports whether l is one of the constants.
func (l Level) Valid() bool {
	_, ok := levelWords[l]
	return ok
}

// Words explains l in a few words, "required" or "stated as a fact" for example; empty if l is not valid.
func (l Level) Words() string { return levelWords[l] }

// Breach returns the verdict for a clause of level l that does not hold: Warn for SHOULD and SHOULD NOT, Observed for
// MAY and note, Fail for everything else. A script that names no clause has no level, and what it expects has to hold:
// so the empty level gives Fail too.
//
// Where the reading chosen for a clause only records what is seen, a check reports Observed whatever its level is.
func (l Level) Breach() Verdict {
	switch l {
	case LevelShould, LevelShouldNot:
		return Warn
	case LevelMay, LevelNote:
		return Observed
	default:
		return Fail
	}
}
