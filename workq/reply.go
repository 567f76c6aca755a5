package workq

import (
	"strconv"
)

// The errors, without their sign. (Errors)
const (
	ClientError = "CLIENT-ERROR"
	ServerError = "SERVER-ERROR"
	Timeout     = "TIMEOUT"
	NotFound    = "NOT-FOUND"
)

// Reply is the answer to a command. (Protocol; Errors)
type Reply struct {
	Error   string   // the word of an error; empty if the command succeeded
	Text    string   // the description of an error
	Bare    bool     // OK without its sign, as the replies to fail and inspect are written in the document
	Counted bool     // a count of records follows OK
	Records []Record // as many as the count says
}

// Record is one job, result, queue, or the server. It has either a block or keys.
type Record struct {
	Head  []string // its line, word by word: the last one is the size of the block or the number of keys
	Block []byte   // of a leased job, or of a result; nil if there are keys
	Keys  []Key    // of inspect
}

// Key is one line of what inspect returns. The value of a payload may have any bytes.
type Key struct{ Name, Value string }

// The keys with the payload of a job and its size. The list of keys has payload-bytes, and the examples have payload:
// both are read by their size. (inspect job by id, Keys)
const (
	keyPayloadSize  = "payload-size"
	keyPayload      = "payload"
	keyPayloadBytes = "payload-bytes"
)

// OK is the reply without records.
func OK() Reply { return Reply{} }

// Leased is the reply to lease. (lease, Reply)
func Leased(id, name string, ttr uint64, payload []byte) Reply {
	head := []string{id, name, strconv.FormatUint(ttr, 10), strconv.Itoa(len(payload))}
	return Reply{Counted: true, Records: []Record{{Head: head, Block: block(payload)}}}
}

// Done is the reply to run and result. (run, Reply; result, Reply)
func Done(id string, success bool, result []byte) Reply {
	word := "0"
	if success {
		word = "1"
	}
	head := []string{id, word, strconv.Itoa(len(result))}
	return Reply{Counted: true, Records: []Record{{Head: head, Block: block(result)}}}
}

// Inspected is a record of inspect, under the id or name of an object.
func Inspected(name string, keys ...Key) Record {
	return Record{Head: []string{name, strconv.Itoa(len(keys))}, Keys: keys}
}

func block(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}

// AppendReply appends a reply as a server sends it. What is written in the head of a record is not checked against its
// block and its keys.
func AppendReply(b []byte, r Reply) []byte {
	if r.Error != "" {
		b = append(append(b, '-'), r.Error...)
		if r.Text != "" {
			b = append(append(b, ' '), r.Text...)
		}
		return append(b, "\r\n"...)
	}
	if !r.Bare {
		b = append(b, '+')
	}
	b = append(b, "OK"...)
	if r.Counted {
		b = strconv.AppendInt(append(b, ' '), int64(len(r.Records)), 10)
	}
	b = append(b, "\r\n"...)
	for _, record := range r.Records {
		b = appendRecord(b, record)
	}
	return b
}

func appendRecord(b []byte, r Record) []byte {
	for i, word := range r.Head {
		if i > 0 {
			b = append(b, ' ')
		}
		b = append(b, word...)
	}
	b = append(b, "\r\n"...)
	if r.Block != nil {
		return append(append(b, r.Block...), "\r\n"...)
	}
	for _, k := range r.Keys {
		b = append(append(append(append(b, k.Name...), ' '), k.Value...), "\r\n"...)
	}
	return b
}
