// Package situations tests workers of eMQP: it plays the broker in situations that are written as tables, and has rules
// look at every message.
//
// Files: side.go has what the commands use, situations.go the table, plays_job.go and plays_life.go the plays of it,
// session.go the broker of a play and the program on it, rules.go what is judged whatever the situation is about.
package situations
