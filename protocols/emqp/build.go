package emqp

import (
	"strconv"
	"time"
)

func newMessage(command, id string, fields ...string) Message {
	m := Message{Command: command, ID: id, Fields: make([][]byte, len(fields))}
	for i, f := range fields {
		m.Fields[i] = []byte(f)
	}
	return m
}

// Ack returns an ACK of the message with the id acknowledged. (Global Frames)
func Ack(id, target string) Message { return newMessage(ACK, id, target) }

// Reply returns a REPLY with a message. (Global Frames)
func Reply(id, message string) Message { return newMessage(REPLY, id, message) }

// Heartbeat returns a HEARTBEAT with a time, which is sent in whole seconds. (Global Frames, Heartbeating)
func Heartbeat(id string, at time.Time) Message {
	return newMessage(HEARTBEAT, id, strconv.FormatInt(at.Unix(), 10))
}

// Disconnect returns a DISCONNECT, which asks a component to end. (DISCONNECT and KBAI)
func Disconnect(id string) Message { return newMessage(DISCONNECT, id) }

// Kbai returns a KBAI, with which a component announces its end. (DISCONNECT and KBAI)
func Kbai(id string) Message { return newMessage(KBAI, id) }

// Request returns a REQUEST: one worker of the queue is to process the message. (eMQP / Client)
func Request(id, queue string, headers Headers, message string) Message {
	return newMessage(REQUEST, id, queue, headers.String(), message)
}

// Publish returns a client's PUBLISH of a message to a topic. (eMQP / Client)
func Publish(id, topic string, headers Headers, message string) Message {
	return newMessage(PUBLISH, id, topic, headers.String(), message)
}

// PublishBare returns a publisher's PUBLISH, which has no headers. (eMQP / Publisher)
func PublishBare(id, topic, message string) Message { return newMessage(PUBLISH, id, topic, message) }

// Schedule returns a SCHEDULE: the message is to be processed repeatedly. (eMQP / Client)
func Schedule(id, queue string, headers Headers, message string) Message {
	return newMessage(SCHEDULE, id, queue, headers.String(), message)
}

// Unschedule returns an UNSCHEDULE, which ends a schedule. The broker ignores the queue. (eMQP / Client)
func Unschedule(id, queue string, headers Headers, message string) Message {
	return newMessage(UNSCHEDULE, id, queue, headers.String(), message)
}

// InformWorker returns the INFORM of a worker with its queues. (eMQP / Worker)
func InformWorker(id string, queues ...Queue) Message {
	return newMessage(INFORM, id, FormatQueues(queues...), TypeWorker)
}

// InformScheduler returns the INFORM of a scheduler. (eMQP / Scheduler)
func InformScheduler(id string) Message { return newMessage(INFORM, id, "", TypeScheduler) }

// Ready returns a READY: the worker can take one more message. (eMQP / Worker)
func Ready(id string) Message { return newMessage(READY, id) }
