// Package emqpsubject is eMQP as a subject of exploring: what clients, workers and schedulers of a broker may send, and
// a law that follows them and says which messages of the broker are due, and which must not come.
//
// Files: subject.go (the subject, its seeds), rules.go and rules.txt (what can be broken), alphabet.go, values.go (the
// types of frames), ways.go (of messages to their peers), crowd.go (many workers), disturb.go (what changes nothing for
// others), parting.go (peers that leave), law.go, sent.go (what is sent), came.go (what is received), own.go (what the
// broker says by itself), reply.go, due.go (what has to come).
package emqpsubject
