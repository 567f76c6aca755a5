package fwp_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/fwpsuite/fwp/protocols/fwp"
)

// Replies are read strictly: an error names the rule, the byte, and what belongs there.
func ExampleReader() {
	in := fwp.NewReader(strings.NewReader("+OK\r\n$2\r\n{}\r\n-ERR no\n"), 0)
	for {
		reply, err := in.Read()
		if err != nil {
			var wrong *fwp.SyntaxError
			fmt.Println(errors.As(err, &wrong), err)
			return
		}
		fmt.Printf("%s %q\n", reply.Kind, reply.Text)
	}
	// Output:
	// simple string "OK"
	// bulk string "{}"
	// true reply syntax (line end): byte 20: expected CR LF at the end of an error, not LF alone, got "\n" after "-ERR no"
}

func ExampleParseCommand() {
	command, err := fwp.ParseCommand([]byte("FETCH critical default"))
	fmt.Printf("%s %q %v\n", command.Verb, command.Args, err)
	_, err = fwp.ParseCommand([]byte("FETCH  critical"))
	fmt.Println(err)
	// Output:
	// FETCH "critical default" <nil>
	// command syntax: byte 6: expected a queue name after one space, got " critical"
}

// The hash that a client sends to a server that asks for a password.
func ExamplePasswordHash() {
	hash, err := fwp.PasswordHash("foobar", "55104dc76695721d", 1545)
	fmt.Println(hash, err)
	// Output:
	// 6d877f8e5544b1f2598768f817413ab8a357afffa924dedae99eb91472d4ec30 <nil>
}

// A program that has bytes, and no stream, decodes them itself.
func ExampleDecode() {
	received := []byte("$5\r\nhel")
	_, _, err := fwp.Decode(received, 0)
	fmt.Println(errors.Is(err, fwp.ErrShort))
	reply, n, err := fwp.Decode(append(received, "lo\r\n+OK\r\n"...), 0)
	fmt.Printf("%s %q, %d bytes, %v\n", reply.Kind, reply.Text, n, err)
	// Output:
	// true
	// bulk string "hello", 11 bytes, <nil>
}

// A client answers the greeting with HELLO. A server with a password sends a salt, and expects its hash.
func ExampleHello() {
	greeting, _, err := fwp.Decode([]byte("+HI {\"v\":2,\"s\":\"55104dc76695721d\",\"i\":1545}\r\n"), 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	hi, err := fwp.ParseHi(greeting)
	if err != nil {
		fmt.Println(err)
		return
	}
	var hello fwp.Hello // of a producer; a consumer has a WorkerID
	if hi.Protected {
		if hello.PasswordHash, err = fwp.PasswordHash("foobar", hi.Salt, hi.Iterations); err != nil {
			fmt.Println(err)
			return
		}
	}
	fmt.Print(string(fwp.AppendCommand(nil, hello.Command())))
	// Output:
	// HELLO {"pwdhash":"6d877f8e5544b1f2598768f817413ab8a357afffa924dedae99eb91472d4ec30","v":2}
}

// Fields that the specification does not name are kept, and no number loses a digit.
func ExampleJob() {
	var job fwp.Job
	err := json.Unmarshal([]byte(`{"jid":"aa11bb22cc33dd44","jobtype":"bill","args":[9007199254740993],"tenant":"x"}`), &job)
	fmt.Println(job.Type, string(job.Args), string(job.Extra["tenant"]), err)
	job.Queue = "mail"
	text, err := json.Marshal(job)
	fmt.Println(string(text), err)
	// Output:
	// bill [9007199254740993] "x" <nil>
	// {"jid":"aa11bb22cc33dd44","jobtype":"bill","args":[9007199254740993],"queue":"mail","tenant":"x"} <nil>
}
