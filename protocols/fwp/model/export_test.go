package model

// Arrows returns all transitions, and Rules all rules, for the tests that draw them.
func Arrows() []Arrow { return arrows }

// Rules returns all rules.
func Rules() []Rule { return rules }
