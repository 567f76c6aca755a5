package store_test

import (
	"fmt"
	"time"

	"github.com/fwpsuite/fwp/fakes/store"
)

// A server of another protocol keeps its jobs in a store: here a job is delivered, failed and dead.
func Example() {
	st := store.New(store.Config[item, string]{
		Enqueue: func(i item, _ time.Time) item { return i },
		Expire:  retryFate,
	})
	if err := st.Push("a producer", item{id: "1", queue: "q"}, time.Time{}); err != nil {
		fmt.Println(err)
		return
	}
	w := store.NewWaiter[item](func() {})
	reservation := st.Take("a worker", []string{"q"}, nil, w)
	fmt.Println("delivered:", reservation.Job.ID())
	err := st.Fail("a worker", "1", func(i item, now time.Time) (item, store.Set, time.Time) { return i, store.Dead, now })
	fmt.Println("dead:", st.Sizes().Dead, err)
	// Output:
	// delivered: 1
	// dead: 1 <nil>
}
