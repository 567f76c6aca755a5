package shortage

import "context"

type watchKey struct{}

// Watch returns a copy of ctx that ends with the first shortage that is given to [Notice], and a function
// that releases it. A connection that could not be opened for want of something says nothing about the
// server, so a run ends there.
func Watch(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, end := context.WithCancelCause(ctx)
	return context.WithValue(ctx, watchKey{}, end), func() { end(nil) }
}

// Notice ends the context of [Watch], if ctx is one below it and err is a shortage. It returns err.
func Notice(ctx context.Context, err error) error {
	if end, ok := ctx.Value(watchKey{}).(context.CancelCauseFunc); ok && Of(err) != None {
		end(err)
	}
	return err
}

// Cause returns the shortage that has ended ctx in words, see [Explain]; "" if none has.
func Cause(ctx context.Context) string { return Explain(context.Cause(ctx)) }
