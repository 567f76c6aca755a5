package scenarios

import "slices"

// place checks whether a step may stand in its block: steps that run side by side share
// no connection.
func (l *linter) place(s Step, in *Block) {
	_, expects := s.(*Expect)
	silence, silent := s.(*Silence)
	switch {
	case in.Kind == Unordered && !expects:
		l.report(s.Place(), false, "send before the block", "an unordered block has S: lines only")
	case in.Kind == Parallel && silent && len(silence.Conns) != 1:
		l.report(s.Place(), false, "write silence "+silence.For.String()+" on one of them",
			"in a parallel block the silence of a connection belongs to its lines")
	case in.Kind == Repeat && in.By > 1 && slices.ContainsFunc(connectionsOf(s), isNamed):
		l.report(s.Place(), false, "each worker has a connection of its own, which has no name",
			"%d workers cannot share a connection", in.By)
	}
}

func isNamed(conn string) bool { return conn != "" }

// connectionsOf names the connections that a step uses.
func connectionsOf(s Step) []string {
	switch s := s.(type) {
	case *Connect:
		return []string{s.Conn}
	case *Send:
		return []string{s.Conn}
	case *Expect:
		return []string{s.Conn}
	case *Silence:
		return s.Conns
	}
	return nil
}
