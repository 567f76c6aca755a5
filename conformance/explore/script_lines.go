package explore

import "github.com/fwpsuite/fwp/scenarios"

// add puts a step at the end of the script, or of the repetition.
func (w *writer) add(s scenarios.Step) {
	if w.block != nil {
		w.block.Steps = append(w.block.Steps, s)
		return
	}
	w.script.Steps = append(w.script.Steps, s)
}

// statement is the place of the next step, below what is to stand above it.
func (w *writer) statement() scenarios.Statement {
	above := w.above
	w.above = nil
	return scenarios.Statement{Above: above}
}

// repeat begins a repetition; w.block = nil ends it.
func (w *writer) repeat(n int) {
	b := &scenarios.Block{Statement: w.statement(), Kind: scenarios.Repeat, Count: n}
	w.add(b)
	w.block = b
}

// conn is the name of a connection.
func (w *writer) conn(number int) string {
	if w.single {
		return ""
	}
	return w.names.conn(number)
}

// end writes that a client ends its connection.
func (w *writer) end(conn int, how scenarios.Ending) {
	w.add(&scenarios.Send{Statement: w.statement(), Conn: w.conn(conn), Ending: how})
}

// say writes a client line.
func (w *writer) say(conn int, text string) {
	name := w.conn(conn)
	w.add(&scenarios.Send{Statement: w.statement(), Conn: name, Segments: w.template(text)})
}

// connect writes the opening of a connection, with fields of the client's introduction
// unless there are none.
func (w *writer) connect(conn int, role scenarios.Role, hello string) {
	c := &scenarios.Connect{Statement: w.statement(), Conn: w.conn(conn), Role: role}
	if hello != "" {
		var err error
		c.Hello, err = scenarios.ParseObject(w.script.Dialect, w.renamed(hello))
		w.failed(err)
	}
	w.add(c)
}

// expect writes an expectation.
func (w *writer) expect(conn int, within scenarios.Window, expected string) {
	e := &scenarios.Expect{Statement: w.statement(), Conn: w.conn(conn), Within: within, Marks: w.marks}
	var err error
	e.Choices, err = scenarios.ParseChoices(w.script.Dialect, w.renamed(expected))
	w.failed(err)
	w.add(e)
}

// failed keeps the first error.
func (w *writer) failed(err error) {
	if w.err == nil {
		w.err = err
	}
}

// template parses the text of a step, with the names of the script; one segment, unless
// the text is cut.
func (w *writer) template(text string) []scenarios.Template {
	segments, err := scenarios.ParseTemplate(w.script.Dialect, text)
	w.failed(err)
	for i, t := range segments {
		segments[i] = w.renamedTemplate(t)
	}
	if len(segments) == 0 { // of a text that does not parse
		return []scenarios.Template{nil}
	}
	return segments
}

// renamedTemplate is a template with the names of the script.
func (w *writer) renamedTemplate(t scenarios.Template) scenarios.Template {
	t, err := t.Rename(w.rename)
	w.failed(err)
	return t
}

// renamed is a text of the language with the names of the script.
func (w *writer) renamed(text string) string { return scenarios.JoinSegments(w.template(text)) }
