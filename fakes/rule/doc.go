// Package rule reads rules by which a fake misbehaves: at a step, if so, each n-th time, after that, do this.
//
//	on checked ACK; after delivered by jid, 5s: skip
//	on ran FETCH if reply = null; each 3: reply "-ERR no job"
//	on delivered if jobtype ~ "mail"; first 2 by conn: set args "[]"
//
// The words of a fake, its steps, fields and acts, are its [Vocabulary]. There are no loops, no arithmetic and no
// functions: what needs them is written in Go, as a hook.
package rule
