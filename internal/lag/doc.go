// Package lag says what may be so only because this machine was late, and what is certain all the same. It is the one
// place where that is decided, whoever asks: a line of a script, the law, a property, a rule about workers.
//
// An event at the peer has an interval in which it can have happened: our stamps bound it on one side, the measured
// lag around it on the other. A claim about time compares intervals, and has three answers: kept for certain, broken
// for certain, or open by so much. What is no claim about time is never in doubt, unless a span of time is its premise.
//
//   - interval.go: intervals, spans and claims
//   - meter.go: Meter, which measures how late this machine is, and how long the peer takes
//   - processes.go, processes_linux.go and processes_other.go: how long the peer's processes wait for a processor
package lag
