package fakes_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/protocols/fwp"
)

// converse reads the greeting, sends lines, each after the reply to the one before, and
// returns everything received.
func converse(addr string, lines ...string) ([]string, error) {
	conn, err := new(net.Dialer).DialContext(context.Background(), "tcp", addr)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	in := bufio.NewScanner(conn)
	in.Scan()
	replies := []string{in.Text()}
	for _, line := range lines {
		if _, err := io.WriteString(conn, line+"\r\n"); err != nil {
			return replies, err
		}
		in.Scan()
		replies = append(replies, in.Text())
	}
	return replies, in.Err()
}

func ExampleNewServer() {
	server := fakes.NewServer(fakes.Config{})
	defer server.Close()

	replies, err := converse(server.Addr(), `HELLO {"v":2}`)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(replies[0])
	fmt.Println(replies[1])
	// Output:
	// +HI {"v":2}
	// +OK
}

// A server that refuses every PUSH to one queue.
func ExampleNewServer_hook() {
	server := fakes.NewServer(fakes.Config{Hook: func(e *fakes.Event) {
		if e.Point == fakes.Checked && e.Command.Verb == fwp.PUSH && e.Object.Text("queue") == "closed" {
			e.Err, e.Skip = &fakes.Refusal{About: "queue", Text: "this queue is closed"}, true
		}
	}})
	defer server.Close()

	replies, err := converse(server.Addr(), `HELLO {"v":2}`,
		`PUSH {"jid":"1f0e7c2ab95d4c33","jobtype":"report","args":[],"queue":"closed"}`)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(replies[2])
	// Output:
	// -ERR this queue is closed
}

// A restart closes all connections and keeps the jobs.
func ExampleServer_Restart() {
	server := fakes.NewServer(fakes.Config{})
	defer server.Close()
	_, err := converse(server.Addr(), `HELLO {"v":2}`, `PUSH {"jid":"1f0e7c2ab95d4c33","jobtype":"report","args":[]}`)
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := server.Restart(); err != nil {
		fmt.Println(err)
		return
	}
	received, err := converse(server.Addr(), `HELLO {"v":2,"wid":"w1","hostname":"h","pid":1,"labels":[]}`, "FETCH default")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(received[2] != "$-1")
	// Output:
	// true
}

// ExampleRules has a server that declines the first PUSH of each connection.
func ExampleRules() {
	rule, err := fakes.Rules().Parse("on checked PUSH; first 1 by conn: refuse 'try again'")
	if err != nil {
		panic(err)
	}
	server := fakes.NewServer(fakes.Config{Hook: rule.Hook()})
	defer server.Close()

	const push = `PUSH {"jid":"a","jobtype":"t","args":[]}`
	replies, err := converse(server.Addr(), `HELLO {"v":2}`, push, push)
	if err != nil {
		panic(err)
	}
	fmt.Println(replies[2:])
	// Output:
	// [-ERR try again +OK]
}
