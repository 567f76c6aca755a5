package agents

import "strings"

// Prefix returns what the subjects of the coordinator with a token begin with.
func Prefix(token string) string { return strings.TrimSuffix(subjectsOf(token).join, "join") }
