package script_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fwpsuite/fwp/protocols/workq"
	workqscript "github.com/fwpsuite/fwp/protocols/workq/script"
	workqsession "github.com/fwpsuite/fwp/protocols/workq/session"
)

// A reply is foreign to a command that cannot have it: by its word, by the shape of its records, or because they are
// about another job or queue.
func TestRepliesThatACommandCannotHave(t *testing.T) {
	t.Parallel()
	const id, other = "6ba7b810-9dad-41d1-80b4-00c04fd430c8", "6ba7b811-9dad-41d1-80b4-00c04fd430c8"
	const job, result = " name 1000 4\r\npong\r\n", " 1 4\r\npong\r\n"
	tests := map[string]struct {
		command, reply string
		foreign        bool
	}{
		"a success":                   {"delete " + id, "+OK\r\n", false},
		"an error of the client":      {"delete " + id, "-CLIENT-ERROR no\r\n", false},
		"no such job":                 {"delete " + id, "-NOT-FOUND\r\n", false},
		"no such job, none is named":  {"lease name 1000", "-NOT-FOUND\r\n", true},
		"a timeout":                   {"lease name 1000", "-TIMEOUT\r\n", false},
		"a timeout of what waits not": {"delete " + id, "-TIMEOUT\r\n", true},
		"a lease":                     {"lease name 1000", "+OK 1\r\n" + id + job, false},
		"a lease of two jobs":         {"lease name 1000", "+OK 2\r\n" + id + job + other + job, true},
		"a lease without a job":       {"lease name 1000", "+OK\r\n", true},
		"a result":                    {"result " + id + " 1000", "+OK 1\r\n" + id + result, false},
		"another job's result":        {"result " + id + " 1000", "+OK 1\r\n" + other + result, true},
		"records of a delete":         {"delete " + id, "+OK 1\r\n" + id + result, true},
		"the job":                     {"inspect job " + id, "+OK 1\r\n" + id + " 1\r\nname n\r\n", false},
		"another job":                 {"inspect job " + id, "+OK 1\r\n" + other + " 1\r\nname n\r\n", true},
		"the queue":                   {"inspect queue one", "+OK 1\r\none 1\r\nready-len 0\r\n", false},
		"another queue":               {"inspect queue one", "+OK 1\r\nOne 1\r\nready-len 0\r\n", true},
		"the server":                  {"inspect server", "+OK 1\r\nserver 1\r\nstarted x\r\n", false},
		"no queue":                    {"inspect queues 0 9", "+OK 0\r\n", false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, _, err := workq.ParseReply([]byte(test.reply))
			require.NoError(t, err)
			foreign := workqscript.Dialect{}.IsImpossible([]byte(test.command+"\r\n"), workqsession.Message(r))
			assert.Equal(t, test.foreign, foreign)
		})
	}
}

// TestMend: a reply about another thing than its command names is mended.
func TestMend(t *testing.T) {
	t.Parallel()
	const id, other = "6ba7b810-9dad-41d1-80b4-00c04fd430c8", "6ba7b811-9dad-41d1-80b4-00c04fd430c8"
	for name, test := range map[string]struct{ command, reply, was, about string }{
		"the job":        {"result " + id + " 0", "+OK 1\r\n" + id + " 1 4\r\npong\r\n", "", id},
		"another job":    {"result " + id + " 0", "+OK 1\r\n" + other + " 1 4\r\npong\r\n", other, id},
		"another queue":  {"inspect queue one", "+OK 1\r\nOne 1\r\nready-len 0\r\n", "One", "one"},
		"another server": {"inspect server", "+OK 1\r\nmine 1\r\nstarted x\r\n", "mine", "server"},
		"a lease":        {"lease name 0", "+OK 1\r\n" + other + " name 1000 4\r\npong\r\n", "", other},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, _, err := workq.ParseReply([]byte(test.reply))
			require.NoError(t, err)
			mended, was := workqscript.Dialect{}.Mend([]byte(test.command+"\r\n"), workqsession.Message(r))
			assert.Equal(t, test.was, was)
			assert.Equal(t, test.about, string(mended.Parts[1]))
		})
	}
}
