package ledger

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// model is the account kept in the plainest way: a struct for each job, and words for its states.
type model struct {
	jobs       map[int64]*modelJob
	greatest   map[int]int64
	counts     Counts
	duplicates []int64
	returned   []int64
	foreign    []Finding
}

type modelJob struct {
	state    string // "", "held", "may return", "acked", "dead"
	push     string // "", "pushed", "refused", "doubtful"
	isBlamed bool   // refused and delivered nevertheless
}

func newModel() *model {
	return &model{jobs: make(map[int64]*modelJob), greatest: make(map[int]int64)}
}

func (m *model) sent(k int64) {
	m.counts.Sent++
	m.jobs[k] = new(modelJob)
}

func (m *model) outcome(k int64, push string) {
	m.jobs[k].push = push
	m.blame(k)
}

func (m *model) blame(k int64) {
	job := m.jobs[k]
	if job.push == "refused" && job.state != "" && !job.isBlamed {
		job.isBlamed = true
		m.counts.Foreign++
		m.counts.Flawed[RefusedJob]++
		m.foreign = append(m.foreign, Finding{Flaw: RefusedJob, Number: k, Description: "refused and delivered nevertheless"})
	}
}

func (m *model) delivered(k int64, queue int) DeliveryKind {
	job := m.jobs[k]
	switch job.state {
	case "":
		job.state = "held"
		if before, ok := m.greatest[queue]; ok && before > k {
			m.counts.OutOfOrder++
		} else {
			m.greatest[queue] = k
		}
		m.blame(k)
		return FirstDelivery
	case "may return":
		job.state = "held"
		m.counts.Redelivered++
		return Redelivery
	case "held":
		m.counts.Duplicated++
		m.duplicates = append(m.duplicates, k)
		return Duplicate
	default:
		m.counts.Returned++
		m.returned = append(m.returned, k)
		return DeliveryAfterEnd
	}
}

func (m *model) settle(k int64, state string) {
	if job := m.jobs[k]; job.state == "held" || job.state == "may return" {
		job.state = state
	}
}

func (m *model) mayReturn(k int64) {
	if job := m.jobs[k]; job.state == "held" {
		job.state = "may return"
	}
}

func (m *model) failed(k int64, willReturn bool) {
	m.counts.Failed++
	if willReturn {
		m.mayReturn(k)
	} else {
		m.settle(k, "dead")
	}
}

// count looks at every job.
func (m *model) count(isDrained bool) (c Counts, missing []int64) {
	c = m.counts
	for k, job := range m.jobs {
		push := map[string]*int64{"": &c.Unanswered, "pushed": &c.Pushed, "refused": &c.Refused, "doubtful": &c.Doubtful}
		*push[job.push]++
		switch {
		case job.state != "":
			c.Delivered++
			states := map[string]*int64{"held": &c.HeldJobs, "may return": &c.Waiting, "acked": &c.Acked, "dead": &c.Dead}
			*states[job.state]++
		case job.push == "pushed":
			c.Missing++
			missing = append(missing, k)
		case job.push == "doubtful":
			c.InDoubt++
		}
	}
	if isDrained && c.Missing > c.FetchesLost {
		c.LostJobs = c.Missing - c.FetchesLost
	}
	slices.Sort(missing)
	return c, missing
}

// TestModel books the same random things in both, in any order that a server and a caller could bring about.
func TestModel(t *testing.T) {
	t.Parallel()
	for seed := range uint64(60) {
		random := rand.New(rand.NewPCG(seed, 9))
		m, l := newModel(), New()
		var sent []int64
		k := random.Int64N(2 * chunkJobs)
		for range 3000 {
			if len(sent) == 0 || random.IntN(5) == 0 {
				k += 1 + random.Int64N(3)*random.Int64N(chunkJobs/20)
				sent = append(sent, k)
				m.sent(k)
				l.BookSent(k, 0)
				continue
			}
			bookBoth(t, random, sent[random.IntN(len(sent))], m, l)
		}
		for _, isDrained := range []bool{false, true} {
			want, missing := m.count(isDrained)
			require.Equal(t, want, l.Count(isDrained), "seed %d", seed)
			require.Equal(t, missing, slices.Collect(l.Missing()), "seed %d", seed)
		}
		require.Equal(t, Findings{Duplicates: m.duplicates, Returned: m.returned, Foreign: m.foreign}, l.Findings(), "seed %d", seed)
	}
}

// bookBoth does one thing with job k.
func bookBoth(t *testing.T, random *rand.Rand, k int64, m *model, l *Ledger) {
	t.Helper()
	switch random.IntN(9) {
	case 0, 1, 2:
		if m.jobs[k].push != "" {
			return
		}
		outcome := []string{"pushed", "pushed", "refused", "doubtful"}[random.IntN(4)]
		m.outcome(k, outcome)
		map[string]func(int64){"pushed": l.BookPush, "refused": l.BookRefusal, "doubtful": l.BookDoubt}[outcome](k)
	case 3, 4:
		queue := random.IntN(3)
		require.Equal(t, m.delivered(k, queue), l.BookDelivery(k, queue))
	case 5:
		m.settle(k, "acked")
		l.BookAck(k)
	case 6:
		willReturn := random.IntN(2) == 0
		m.failed(k, willReturn)
		l.BookFail(k, willReturn)
	case 7:
		m.mayReturn(k)
		l.BookReturnable(k)
	case 8:
		if random.IntN(20) == 0 {
			m.counts.FetchesLost++
			l.BookFetchLoss()
		}
	}
}
