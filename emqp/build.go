package emqp

import (
	"strconv"
	"time"
)

func build(command, id string, fields ...string) Message {
	m := Message{Command: command, ID: id, Fields: make([][]byte, len(fields))}
	for i, f := range fields {
		m.Fields[i] = []byte(f)
	}
	return m
}

// Ack acknowledges a message. (Global Frames)
func Ack(id, acknowledged string) Message { return build(ACK, id, acknowledged) }

// Reply responds with a message. (Global Frames)
func Reply(id, message string) Message { return build(REPLY, id, message) }

// Heartbeat is a sign of life at a time. (Global Frames, Heartbeating)
func Heartbeat(id string, at time.Time) Message {
	return build(HEARTBEAT, id, strconv.FormatInt(at.Unix(), 10))
}

// Disconnect asks a component to end. (DISCONNECT and KBAI)
func Disconnect(id string) Message { return build(DISCONNECT, id) }

// Kbai says that its sender ends. (DISCONNECT and KBAI)
func Kbai(id string) Message { return build(KBAI, id) }

// Request asks for a message to be processed by a worker of a queue. (eMQP / Client)
func Request(id, queue string, headers Headers, message string) Message {
	return build(REQUEST, id, queue, headers.String(), message)
}

// Publish publishes a message across a topic, as a client does. (eMQP / Client)
func Publish(id, topic string, headers Headers, message string) Message {
	return build(PUBLISH, id, topic, headers.String(), message)
}

// PublishBare does so as a publisher does, without headers. (eMQP / Publisher)
func PublishBare(id, topic, message string) Message { return build(PUBLISH, id, topic, message) }

// Schedule asks for a message to be processed again and again. (eMQP / Client)
func Schedule(id, queue string, headers Headers, message string) Message {
	return build(SCHEDULE, id, queue, headers.String(), message)
}

// Unschedule asks for that to end; the queue is ignored. (eMQP / Client)
func Unschedule(id, queue string, headers Headers, message string) Message {
	return build(UNSCHEDULE, id, queue, headers.String(), message)
}

// InformWorker announces a worker of queues. (eMQP / Worker)
func InformWorker(id string, queues ...Queue) Message {
	return build(INFORM, id, FormatQueues(queues...), TypeWorker)
}

// InformScheduler announces a scheduler. (eMQP / Scheduler)
func InformScheduler(id string) Message { return build(INFORM, id, "", TypeScheduler) }

// Ready says that a worker can take one more message. (eMQP / Worker)
func Ready(id string) Message { return build(READY, id) }
