package play

import (
	"context"
	"slices"
)

// Shorten returns a part of a list, in its order, for which holds returns true, and which is minimal as far as the time
// allows: without any single one of its elements holds returns false. It leaves out runs of elements: halves of the
// list at first, then quarters, and so on down to single elements, of which it tries all until none can be left out.
// (This is the search for complements of Zeller's ddmin.)
//
// holds is asked about parts that are shorter than all for which it was true; it is never asked about the whole list,
// for which it is taken to be true, nor about an empty one. It must not keep the slice or change it. Shorten blocks
// until it is done, and asks nothing more once ctx is. It does not change list.
func Shorten[T any](ctx context.Context, list []T, holds func(ctx context.Context, part []T) bool) []T {
	for n := max(1, len(list)/2); ; n = max(1, min(n/2, len(list)/2)) {
		before := len(list)
		for at := 0; at < len(list); {
			part := slices.Concat(list[:at], list[min(at+n, len(list)):])
			switch {
			case ctx.Err() != nil:
				return list
			case len(part) > 0 && holds(ctx, part):
				list = part
			default:
				at += n
			}
		}
		if n == 1 && len(list) == before {
			return list
		}
	}
}
