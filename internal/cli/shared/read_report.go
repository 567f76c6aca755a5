package shared

import (
	"bufio"
	"bytes"
	"slices"
	"strings"

	"github.com/fwpsuite/fwp/internal/base/input"
	"github.com/fwpsuite/fwp/reports/html"
)

// maxReport is how many bytes a saved report has at most.
const maxReport = 64 << 20

// ReadReport returns the JSON of a saved report, which a file has or which is in the page that it has (- for standard
// input); isReport is false for a file that is neither. schema is what the key schema of JSON begins with, one of
// several. Of standard input it returns what it has read in any case. A file that cannot be read is none: what reads
// other files says why.
func (p Process) ReadReport(name string, schema ...string) (data []byte, isReport bool, err error) {
	const peekLength = 512 // bytes until the key schema, which is the first one
	in := p.In
	if name != "-" {
		file, err := input.Open(name)
		if err != nil {
			return nil, false, nil // see above
		}
		defer func() { _ = file.Close() }() // it was only read
		in = file
	}
	reader := bufio.NewReaderSize(in, peekLength)
	head, _ := reader.Peek(peekLength)
	start := strings.TrimSpace(string(head))
	if strings.HasPrefix(start, "<!DOCTYPE html>") {
		page, err := input.All(reader, name, maxReport)
		if err != nil {
			return nil, true, err
		}
		data, err = html.Data(page)
		return data, true, err
	}
	hasSchema := func(prefix string) bool { return strings.Contains(start, `"schema": "`+prefix) }
	switch {
	case strings.HasPrefix(start, "{") && slices.ContainsFunc(schema, hasSchema):
		data, err = input.All(reader, name, maxReport)
		return data, true, err
	case name != "-":
		return nil, false, nil
	}
	head = bytes.Clone(head)
	_, _ = reader.Discard(len(head))
	return head, false, nil
}
