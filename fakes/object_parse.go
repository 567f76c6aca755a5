package fakes

import "encoding/json"

// ParseObject parses a JSON object. Its values alias b. The error is a *[Refusal].
func ParseObject(b []byte) (*Object, error) {
	o, r := parseObject(b)
	if r != nil {
		return nil, r
	}
	return o, nil
}

func parseObject(b []byte) (*Object, *Refusal) {
	o := &Object{fields: make([]Field, 0, 12)}
	if r := o.parse(b); r != nil {
		return nil, r
	}
	return o, nil
}

// parse replaces the members of the object with those of a JSON text, which alias b. The
// old values become invalid.
func (o *Object) parse(b []byte) *Refusal {
	if !json.Valid(b) {
		return refuse(AboutJSON, "the argument is not valid JSON")
	}
	if b[0] != '{' || b[len(b)-1] != '}' {
		return refuse(AboutObject, "the argument is not a JSON object with nothing around it")
	}
	clear(o.fields) // so that a long line is not kept in memory
	o.fields, o.buf = o.fields[:0], o.buf[:0]
	for i := next(b, 1); b[i] != '}'; {
		end := skipValue(b, i)
		name, _ := asString(b[i:end])
		i = next(b, next(b, end)+1) // over the colon
		end = skipValue(b, i)
		o.fields = append(o.fields, Field{Name: name, Value: b[i:end:end]})
		if i = next(b, end); b[i] == ',' {
			i = next(b, i+1)
		}
	}
	return nil
}

// next returns the index of the first byte from i on that is not white space. It and
// skipValue need valid JSON.
func next(b []byte, i int) int {
	for b[i] == ' ' || b[i] == '\t' || b[i] == '\r' || b[i] == '\n' {
		i++
	}
	return i
}

// skipValue returns the index after the value that starts at i.
func skipValue(b []byte, i int) int {
	depth := 0
	for ; i < len(b); i++ {
		switch b[i] {
		case '"':
			i = closingQuote(b, i)
			if depth == 0 {
				return i + 1
			}
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 {
				return i
			}
			if depth--; depth == 0 {
				return i + 1
			}
		case ',', ':', ' ', '\t', '\r', '\n':
			if depth == 0 {
				return i
			}
		}
	}
	return i
}

// closingQuote returns the index of the quote that ends the string that starts at i.
func closingQuote(b []byte, i int) int {
	for i++; b[i] != '"'; i++ {
		if b[i] == '\\' {
			i++
		}
	}
	return i
}
