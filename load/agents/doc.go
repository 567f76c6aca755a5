// Package agents puts one load on a server from several machines, with NATS between them. A coordinator has the plan;
// agents join it, put their segments of the load on the server, and report. What NATS does is not done here: transport,
// authentication, TLS, one message to many, requests and their replies. Only its core is used, no JetStream: a run
// whose coordinator is gone is no result, so nothing has to outlive it.
//
// # Messages
//
// All are JSON. Their subjects begin with "fwp." and a digest of the token, so that coordinators share a NATS server
// without seeing each other's agents, and only those who know the token can join.
//
//	join     an agent asks to take part: accepted, or refused with a reason
//	clock    an agent asks for the coordinator's time
//	state    the coordinator, each second and at each change: the phase of the run, the plan, the start, the stop
//	tick     an agent, each second and at each change: where it is, and what was recorded since its last tick
//	jobs.N   the account of the jobs of agent N, where jobs cross between agents, in the same way
//	done.N   the report of agent N, in pieces, each of which is confirmed
//
// state and tick carry the whole state, and not the change. So a lost message does no harm, an agent that reconnects
// knows where the run is, and they are heartbeats: whoever misses three of the other's ends its part.
//
// # The walk
//
//	joining     until all agents are there, or the time is up
//	connecting  the plan is out: agents connect, prefill, measure their clocks, and are ready
//	running     all are ready: the load begins at one moment; ends when all have reported. Where jobs cross, no agent
//	            drains its queues before all have pushed their last job
//	stopping    an agent is lost or has failed, or the user has interrupted: all end their loads and report what there is
//	over        each agent has reported or is lost: the reports are joined
//
// roster.go has this as a state machine that knows no NATS and no clock. In the order in which they can be read:
// message.go, roster.go, timeline.go, coordinator.go; clock.go and agent.go; connect.go and server.go; result.go.
package agents
