package conformance

// Suggest is [Protocol.Suggest] of FWP.
func Suggest(id string) string { return FWP().Suggest(id) }
