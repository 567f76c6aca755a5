package workercheck

import (
	"bytes"
	"errors"

	"github.com/fwpsuite/fwp/fakes"
	"github.com/fwpsuite/fwp/fwp"
)

// lenient has a server carry out commands with small mistakes, as servers in use do: the monitors report these, and the
// program can be tested further.
func lenient(e *fakes.Event) {
	switch e.Point {
	case fakes.LineRead:
		if about(e) == fakes.AboutLineEnd {
			e.Err = nil
		}
		if e.Err == nil {
			e.Line = plain(e.Line)
		}
	case fakes.Checked:
		if about(e) != "" && forgivable(e) {
			e.Err, e.Skip = nil, false
		}
	}
}

// about returns why a command is refused; empty if it is not.
func about(e *fakes.Event) fakes.About {
	if r, is := errors.AsType[*fakes.Refusal](e.Err); is {
		return r.About
	}
	return ""
}

// forgivable reports whether a command that is refused has what it takes to be carried out.
func forgivable(e *fakes.Event) bool {
	if e.Object == nil {
		return false
	}
	text := func(name string) bool { return e.Object.Text(name) != "" }
	switch e.Command.Verb {
	case fwp.HELLO:
		switch about(e) {
		case "v", "hostname", "pid", "labels", "wid":
			return true
		}
	case fwp.BEAT:
		return about(e) != fakes.AboutWorker && text("wid")
	case fwp.ACK, fwp.FAIL:
		return about(e) != fakes.AboutJob && about(e) != fakes.AboutState && text("jid")
	}
	return false
}

// plain returns a line without superfluous spaces behind its verb and at its end.
func plain(line []byte) []byte {
	line = bytes.TrimRight(line, " ")
	if i := bytes.IndexByte(line, ' '); i > 0 && bytes.HasPrefix(line[i:], []byte("  ")) {
		return append(bytes.Clone(line[:i+1]), bytes.TrimLeft(line[i:], " ")...)
	}
	return line
}
