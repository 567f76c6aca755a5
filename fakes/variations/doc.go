// Package variations is the catalogue of the ways in which a server of package fakes differs from others and conforms.
// What is said of each is a row of variations.txt, and below it the rules that are what it does, in the language of
// package rule. What no rule can say is in Go.
//
// Such a variation is in the file that has the first word of its name; a test holds this law:
//
//	connection.go  connections, consumer, end, kill, producer, restart, told
//	hello.go       hello, hi, password
//	job.go         job, null
//	json.go        json; style.go has the ways to write the same JSON
//	pace.go        pace
//	queue.go       fetch, queue, queues, quiet
//	reply.go       command, error, info, line
//	report.go      accepts, beat, flush, refused, refuses, worker
//	time.go        expiry, reserve, retries, schedule, time
//
// keeping.go has those of what a server keeps while it does not run, which are a list of their own. variations.go has
// the list of all others. The hooks are made of the words in hook.go.
package variations
