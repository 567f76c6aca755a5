package workercheck

import "slices"

// Situations returns all situations of workers, those first of which workers get most wrong.
func Situations() []Situation {
	return slices.Concat(beatSituations(), quietSituations(), terminateSituations(), signalSituations(), jobSituations(),
		fetchSituations(), greetingSituations(), declinedSituations(), replySituations(), lossSituations())
}

// always are the clauses that every connection is about.
const always = "FRAME-01 FRAME-02 FRAME-04 FRAME-07 FRAME-09 HELLO-01 HELLO-02 HELLO-09 HELLO-12 HI-07 STATE-02"
