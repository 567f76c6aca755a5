package conformance

import (
	"strings"

	"github.com/fwpsuite/fwp/internal/text"
)

// Suggest returns the id of the clause that a mistyped id most likely means, or "" if none is near. Case, and a
// missing "FWP-" at the start, do not count as mistakes; of several ids that are equally near the first in the order
// of the catalogue is taken.
func Suggest(id string) string {
	id = strings.ToUpper(strings.TrimSpace(id))
	if !strings.HasPrefix(id, "FWP-") {
		id = "FWP-" + id
	}
	const most = 2 // more mistakes are another word
	return text.Nearest(id, clauseIDs(), most)
}

// clauseIDs lists the ids of the catalogue in its order.
func clauseIDs() []string {
	ids := make([]string, 0, len(catalogue()))
	for _, c := range catalogue() {
		ids = append(ids, c.ID)
	}
	return ids
}
