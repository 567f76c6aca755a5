package fwpsubject

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fwpsuite/fwp/conformance/law"
	"github.com/fwpsuite/fwp/internal/values"
)

func TestFieldsOfCommands(t *testing.T) {
	t.Parallel()
	for command, want := range map[string]string{
		"PUSH {\"jid\":\"a\",\"args\" : [ 1 ],\"odd\":5}\r\n": `PUSH; PUSH jid="a"; PUSH args=[ 1 ]`,
		"FETCH a  b\r\n":              `FETCH; FETCH queues=["a","b"]`,
		"FETCH\r\n":                   `FETCH; FETCH queues=[]`,
		"INFO\r\n":                    "INFO",
		"INFO x\r\n":                  "INFO",
		"ACK [1]\r\n":                 "ACK",
		"ACK {\"jid\":\r\n":           "ACK",
		"BEAT {\"wid\":\"w\"}":        "other bytes",
		"PUSH {}\nEND\r\n":            "other bytes",
		"NOTHING {\"jid\":\"a\"}\r\n": "other bytes",
		"":                            "other bytes",
	} {
		var all []string
		eachField([]byte(command), func(name string, value []byte) {
			if value != nil {
				name += "=" + string(value)
			}
			all = append(all, name)
		})
		assert.Equal(t, want, strings.Join(all, "; "), "%q", command)
	}
}

func TestLines(t *testing.T) {
	t.Parallel()
	assert.Equal(t, [][]byte{[]byte("INFO\r\n"), []byte("END\r\n")}, lines([]byte("INFO\r\nEND\r\n")))
	assert.Equal(t, [][]byte{[]byte("INFO\r\nEND")}, lines([]byte("INFO\r\nEND")))
}

// TestFieldsAreThoseThatJobsHave: what is generated of a job is counted.
func TestFieldsAreThoseThatJobsHave(t *testing.T) {
	t.Parallel()
	g := made(1)
	i := law.NewInputs(fields(), g.law)
	i.Opened(0)
	const jobs = 3000
	for range jobs {
		job := g.Fill(g.job())
		i.Sent(0, [][]byte{[]byte("PUSH " + job + "\r\n")}, false, g.Now())
		values.Members([]byte(job), func(name string, _ []byte) {
			assert.Contains(t, knownFields(), "PUSH "+name, job)
		})
	}
	fields().Complete(i.Counts())
	for _, s := range i.Counts().Spreads() {
		if strings.HasPrefix(s.Name, "PUSH ") && s.Of > 0 {
			assert.Positive(t, s.Sent, s.Name)
		}
	}
	assert.Equal(t, jobs, i.Counts().Class("command", "PUSH").Sent)
	assert.Equal(t, jobs, i.Counts().Class("workers", "2").Sent)
	i.Opened(2)
	i.Sent(2, [][]byte{[]byte("BEAT {}\r\n")}, false, g.Now())
	assert.Equal(t, 1, i.Counts().Class("jobs in hand", "2").Sent)
}
