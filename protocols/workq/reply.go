package workq

import (
	"strconv"
)

// The errors, without their leading minus sign. (Errors)
const (
	ClientError = "CLIENT-ERROR"
	ServerError = "SERVER-ERROR"
	Timeout     = "TIMEOUT"
	NotFound    = "NOT-FOUND"
)

// Reply is the response to a command. The zero value is +OK. (Protocol; Errors)
type Reply struct {
	Error   string   // the error, such as "NOT-FOUND"; "" after a success
	Text    string   // the description of an error
	Bare    bool     // OK without the plus sign, as the specification writes the replies to fail and inspect
	Counted bool     // OK is followed by the number of records
	Records []Record // the records
}

// Record is one record of a reply: a job, a result, a queue or the server. It has either a block or keys.
type Record struct {
	Head  []string // the words of its line; the last one is the size of the block or the number of keys
	Block []byte   // the payload of a leased job, or a result; nil if there are keys
	Keys  []Key    // the lines of a reply to inspect
}

// Key is one line of a reply to inspect. The value of a payload may have any bytes.
type Key struct{ Name, Value string }

// The keys with the payload of a job and its size. The list of keys has payload-bytes, and the examples have payload:
// both are read by their size. (inspect job by id, Keys)
const (
	keyPayloadSize  = "payload-size"
	keyPayload      = "payload"
	keyPayloadBytes = "payload-bytes"
)

// OK returns the reply +OK, without records.
func OK() Reply { return Reply{} }

// LeaseReply returns the reply to a lease; ttr is in milliseconds. (lease, Reply)
func LeaseReply(id, name string, ttr uint64, payload []byte) Reply {
	head := []string{id, name, strconv.FormatUint(ttr, 10), strconv.Itoa(len(payload))}
	return Reply{Counted: true, Records: []Record{{Head: head, Block: block(payload)}}}
}

// ResultReply returns the reply to run and result. (run, Reply; result, Reply)
func ResultReply(id string, success bool, result []byte) Reply {
	word := "0"
	if success {
		word = "1"
	}
	head := []string{id, word, strconv.Itoa(len(result))}
	return Reply{Counted: true, Records: []Record{{Head: head, Block: block(result)}}}
}

// InspectRecord returns a record of inspect; name is the id or the name of the object.
func InspectRecord(name string, keys ...Key) Record {
	return Record{Head: []string{name, strconv.Itoa(len(keys))}, Keys: keys}
}

func block(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}

// AppendReply appends r to b as a server sends it. It does not check the sizes and counts in the head of a record.
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
