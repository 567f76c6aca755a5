package yaml

import (
	"bytes"
	"errors"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// MaxSource bounds a file, in bytes.
const MaxSource = 1 << 20

// Shape is what the whole of a file has to be, and how messages put it.
type Shape struct {
	Kind           yaml.Kind
	Expected       string // "lines such as producers: 50"
	Do             string // "write a key, a colon and a value in each line"
	SingleDocument string // "one workload in a file"
}

// lineOf finds the line in a message of the YAML library, which knows no column.
var lineOf = regexp.MustCompile(`^yaml: line (\d+): `)

// Root returns the node that the file consists of; nil if the file is empty or has another shape.
func (p *Problems) Root(source []byte, shape Shape) *yaml.Node {
	if len(source) > MaxSource {
		p.Report(Place{}, &Problem{Description: "the file is too large", Expected: "1 MiB or less",
			Do: "is it the right file?"})
		return nil
	}
	if !utf8.Valid(source) {
		p.Report(Place{}, &Problem{Description: "the file is not UTF-8", Expected: shape.Expected,
			Do: "is it the right file?"})
		return nil
	}
	decoder := yaml.NewDecoder(bytes.NewReader(source))
	var document, second yaml.Node
	err := decoder.Decode(&document)
	if errors.Is(err, io.EOF) {
		return nil
	}
	if err != nil {
		p.invalid(err, shape)
		return nil
	}
	if err := decoder.Decode(&second); !errors.Is(err, io.EOF) {
		p.Report(At(&second), &Problem{Description: "the file has a second YAML document", Expected: shape.SingleDocument,
			Do: "remove what follows ---"})
	}
	root := document.Content[0]
	if root.Kind != shape.Kind && root.Tag != "!!null" {
		p.Report(At(root), &Problem{Description: "this is " + KindOf(root), Expected: shape.Expected, Do: shape.Do})
		return nil
	}
	return root
}

// invalid reports an error of the YAML library.
func (p *Problems) invalid(err error, shape Shape) {
	line := 1
	if m := lineOf.FindStringSubmatch(err.Error()); m != nil {
		line, _ = strconv.Atoi(m[1])
	}
	words := strings.TrimPrefix(lineOf.ReplaceAllString(err.Error(), ""), "yaml: ")
	p.Report(Place{Line: line}, &Problem{Description: "invalid YAML: " + words, Expected: shape.Expected,
		Do: "check this line and the one before"})
}

// UnfitError is the problem of a value that is not even a scalar.
func UnfitError(n *yaml.Node, expected, do string) error {
	return &Problem{Description: "this is " + KindOf(n), Expected: expected, Do: do}
}

// Resolve follows an alias, which never leads to another.
func Resolve(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode && n.Alias != nil {
		return n.Alias
	}
	return n
}

// KindOf says what a node is: "a mapping", "nothing", or the text of a scalar in quotes.
func KindOf(n *yaml.Node) string {
	switch {
	case n.Kind == yaml.MappingNode:
		return "a mapping"
	case n.Kind == yaml.SequenceNode:
		return "a sequence"
	case n.Tag == "!!null" || n.Value == "":
		return "nothing"
	}
	return strconv.Quote(n.Value)
}
