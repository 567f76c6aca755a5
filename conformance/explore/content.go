package explore

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/big"
)

// content is a form of what must come back as it was pushed, in which equal values are
// equal texts, whichever way a server writes strings and numbers (AMB-16).
func content(jobtype string, args json.RawMessage) string {
	d := json.NewDecoder(bytes.NewReader(args))
	d.UseNumber()
	var list []any
	if d.Decode(&list) != nil {
		return jobtype + " " + string(args)
	}
	for i, arg := range list {
		if n, is := arg.(json.Number); is {
			list[i] = exactly(n)
		}
	}
	return fmt.Sprintf("%s %q", jobtype, list)
}

// exactly writes a number in one way only.
func exactly(n json.Number) string {
	const longest = 40 // a number that is longer is none of ours, and may cost more than it is worth
	if r, ok := new(big.Rat).SetString(n.String()); ok && len(n) < longest {
		return r.RatString()
	}
	return n.String()
}
