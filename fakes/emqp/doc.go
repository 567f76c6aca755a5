// Package emqp is a conforming broker of the EventMQ Protocol, in memory: clients and schedulers at the front,
// workers at the back, or all on one socket. It shares the frames of package emqp and the sockets of package zmtp
// with what tests brokers, and nothing else. Its one hook sees and changes each message, before it is handled or
// sent; faults are made of it.
//
// Where the document says nothing, this broker does the following. It acknowledges INFORM, REQUEST, PUBLISH, SCHEDULE
// and UNSCHEDULE with ACK, and nothing else. READY is one credit: a worker is sent one REQUEST for each. A REQUEST
// has the id and frames that its client sent. A REPLY of a worker is for the oldest REQUEST that it was sent, wants a
// reply, and has none. PUBLISH has no subscribers. Messages that break the document are ignored. A REQUEST that was
// sent to a worker is not sent again.
//
// Files: broker.go has the settings, sockets and the clock, service.go the broker that can be started again, handle.go
// what a message does. variation.go has the variations. faults.txt has the faults, each with its rule, if one can say
// what it does; the others are in fault_request.go (REQUESTs, their ACKs and REPLYs, and messages after which the
// broker serves no more) and fault_inform.go (workers and schedulers: INFORM, HEARTBEAT, KBAI), fault.go has what they
// are made of. The names in brackets are the sections of the document.
package emqp
