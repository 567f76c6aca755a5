// Package explore brings a server into states that no script lists. An [Explorer] makes up steps, legal and not, sends
// them over several connections, and has every reply judged. An [Alphabet] says what may be sent and answered: the
// package knows no protocol. A finding is shrunk and written as a script. The same seed and the same answers give the
// same commands. All names have the prefix of the run, and what is left at the end is removed. All waiting goes through
// timers and connections, so that it can be played in virtual time.
package explore
