package situations

import (
	"slices"
	"strings"
	"time"

	"github.com/fwpsuite/fwp/conformance"
	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/scenarios"
)

// situation is what the program under test is put into: a row of the tables.
type situation struct {
	// id is a stable name, "quiet/bulk", and title says in one sentence what has to hold.
	id, title string
	// clauses are those that it decides, separated by spaces and without the prefix that they share. What the rules find
	// broken beside them is reported as well.
	clauses string
	// wait is how many seconds a play takes at least, on a program that is right.
	wait int
	// play puts the program into the situation, and returns when it is over. It decides what the rules cannot.
	play func(*trial)
	// setup is where the program runs.
	setup setup
}

// setup is what is special about the servers of a situation, about how the program finds them, and about what it is
// judged by.
type setup struct {
	server       func(*fakes.Config) // changes the configuration of the servers; it may be nil
	rules        string              // by which the servers misbehave, one on each line
	usesTLS      bool                // the servers have TLS
	wrongCert    *wrongCertificate   // and this one in the place of the right certificate; nil: they have the right one
	usesIPv6     bool                // the servers listen on an address of IPv6 only
	usesProvider bool                // the program finds the URL by FAKTORY_PROVIDER
	zone         string              // the time zone of the program; empty: that of this process
	isSlow       bool                // the servers read lines slowly
	isQuick      bool                // a quick run has it, however long it waits
	ignoresTimes bool                // what the rules find broken that depends on time is not reported
}

// workerSituations returns all situations of workers, those first of which workers get most wrong.
func workerSituations() []situation {
	return slices.Concat(beatSituations(), quietSituations(), terminateSituations(), signalSituations(), jobSituations(),
		fetchSituations(), greetingSituations(), declinedSituations(), replySituations(), pressureSituations(),
		lossSituations(),
		outageSituations(workerMoments(), "FETCH-11 FETCH-09 BEAT-06 WRK-05", "WRK-05", playOutage))
}

// producerSituations returns all situations of producers.
func producerSituations() []situation {
	return slices.Concat(pushSituations(), refusalSituations(), pushLossSituations(), producerLifeSituations(),
		greetingSituations(), segmentSituations(),
		outageSituations(producerMoments(), "WU-19 WRK-06", "WRK-06", playProducerOutage))
}

// connectionClauses are the clauses that every connection is about, and producerClauses those of every run of a
// producer.
const (
	connectionClauses = "FRAME-01 FRAME-02 FRAME-04 FRAME-07 FRAME-09 HELLO-01 HELLO-02 HELLO-09 HI-07 STATE-02"
	producerClauses   = "FRAME-01 FRAME-02 FRAME-04 FRAME-07 FRAME-09 HELLO-01 HELLO-02 HI-07 STATE-02 STATE-15 " +
		"END-03 WU-01 WU-02 WU-03 WU-18 WU-19 RESP-08"
)

func (s *situation) clauseIDs(prefix string) []string {
	ids := strings.Fields(s.clauses)
	for i, id := range ids {
		ids[i] = prefix + id
	}
	return ids
}

// describe returns what is known of the situation before it is played.
func (s *situation) describe(prefix string) conformance.Description {
	d := conformance.Description{ID: s.id, Title: s.title, Wait: time.Duration(s.wait) * time.Second,
		Quick: s.setup.isQuick}
	for _, id := range s.clauseIDs(prefix) {
		d.Marks = append(d.Marks, scenarios.ClauseMark{Clause: id})
	}
	return d
}
