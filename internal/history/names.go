package history

import "fmt"

// MarshalText returns the name of String. An unknown operation is an error.
func (o Op) MarshalText() ([]byte, error) {
	if int(o) >= len(opNames) || opNames[o] == "" {
		return nil, fmt.Errorf("there is no %v", o)
	}
	return []byte(opNames[o]), nil
}

// UnmarshalText reads what MarshalText writes.
func (o *Op) UnmarshalText(text []byte) error {
	for i, name := range opNames {
		if name != "" && name == string(text) {
			*o = Op(i) //nolint:gosec // an index of a short table
			return nil
		}
	}
	return fmt.Errorf("there is no operation %q", text)
}

// MarshalText returns the name of String. An unknown outcome is an error.
func (o Outcome) MarshalText() ([]byte, error) {
	if int(o) >= len(outcomeNames) {
		return nil, fmt.Errorf("there is no %v", o)
	}
	return []byte(outcomeNames[o]), nil
}

// UnmarshalText reads what MarshalText writes.
func (o *Outcome) UnmarshalText(text []byte) error {
	for i, name := range outcomeNames {
		if name == string(text) {
			*o = Outcome(i) //nolint:gosec // an index of a short table
			return nil
		}
	}
	return fmt.Errorf("there is no outcome %q", text)
}
