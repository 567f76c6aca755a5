package fwpsuite

// Suggest is [Protocol.Suggest] of FWP.
func Suggest(id string) string { return Protocol().Suggest(id) }
