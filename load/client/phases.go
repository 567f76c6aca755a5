package client

import "time"

// Connect opens the long-lived connections, at the pace of Config.ConnectRate.
// Status.ReadyConns of Status.Target are identified. Connections that fail
// are tried again until Stop.
func (c *Shard) Connect() {
	now := c.loop.Now()
	for _, p := range c.producers {
		c.want(now, &p.conn)
	}
	if !c.share.workersOnlyDrain {
		c.wantWorkers(now, false)
	}
	c.wantWorkers(now, true)
}

// wantWorkers opens the connections of the workers that fetch, or of those that do not.
func (c *Shard) wantWorkers(now time.Duration, isPassive bool) {
	for _, w := range c.workers {
		for _, d := range w.conns {
			if w.isPassive == isPassive {
				c.want(now, &d.conn)
			}
		}
	}
}

func (c *Shard) want(now time.Duration, conn *conn) {
	c.status.Target++
	c.opener.add(now, conn)
}

// Prefill pushes this shard's share of the jobs that are to be there before the first
// fetch, as fast as replies come. It is done when Status.IsPushing is false. Call
// it before Start, even if there is nothing to prefill.
func (c *Shard) Prefill() {
	if c.work.Prefill > 0 {
		c.dispatcher.hasThinkTime = false
		c.dispatcher.begin(modeClosed, c.loop.Now(), 0, c.work.Prefill, c.share.producers)
	}
}

// Start begins the load: the workers fetch from now on, and the first arrival of the
// plan, or the first push of a closed loop, is due at the instant at.
func (c *Shard) Start(at time.Duration) {
	d := &c.dispatcher
	d.stop(at)
	c.isFilled, c.isObserving, c.loadStart = true, true, at
	c.fetch()
	if c.share.producersOnlyPrefill {
		for _, p := range c.producers {
			p.poke()
		}
	}
	takers := c.work.Producers
	for _, s := range c.churners {
		s.isListed = true
		d.freeTakers.push(s)
	}
	if c.work.Churn {
		takers += c.work.Connections
	}
	d.hasThinkTime = c.work.Think.Max > 0
	switch {
	case takers == 0:
	case c.plan != nil:
		d.begin(modePlanned, at, c.work.Prefill, 0, takers)
	default:
		d.backlogLimit = c.backlogLimit()
		d.begin(modeClosed, at, c.work.Prefill, c.work.JobLimit, takers)
	}
	c.loop.Poke(&c.sweeper)
}

// fetch makes the workers fetch from now on.
func (c *Shard) fetch() {
	now := c.loop.Now()
	c.isFetching, c.fetchStart = true, now
	for _, w := range c.workers {
		w.checkAll(now)
	}
}

// StopPushing ends the arrivals. What the plan had up to now and no connection has
// taken is unserved. Pushes in flight are awaited: see Status.IsPushing.
//
// The observers stop. It may be called while a closed loop or a plan goes on, and must be before Drain.
func (c *Shard) StopPushing() {
	c.isObserving = false
	c.dispatcher.stop(c.loop.Now())
}

// Drain begins to empty the queues, or to look again whether they are empty: Status.IsDrained reports whether each
// worker has had an empty fetch sent after from, and holds nothing. The workers continue to fetch until Stop, since a
// server may deliver a job late.
//
// A workload without consumers gets some workers now, to leave the queues empty.
func (c *Shard) Drain(from time.Duration) {
	c.drainStart = max(from, 1)
	c.status.DrainedWorkers = 0
	for _, w := range c.workers {
		w.isDrained = false
		w.noteEmpty()
	}
	if c.share.workersOnlyDrain && !c.isStopping {
		c.share.workersOnlyDrain = false
		c.wantWorkers(c.loop.Now(), false)
		c.fetch()
	}
}

// Stop ends every connection in order: nothing more is pushed or fetched, but every
// outstanding fetch is awaited, and what it brings is worked on and reported
// (Status.TakenAtEnd). It is done when Status.OpenConns is 0.
func (c *Shard) Stop() {
	now := c.loop.Now()
	c.isStopping, c.isFetching = true, false
	c.dispatcher.stop(now)
	for _, conn := range c.conns {
		conn.checkNeed(now)
	}
}

// Leave is Stop where every job is settled: a fetch that waits can bring none, so its connection ends without its
// reply.
func (c *Shard) Leave() {
	c.isSettled = true
	c.Stop()
}

// Abandon cuts what Stop could not end in time, and books what is in doubt because of
// that. Nothing happens in the shard after it.
func (c *Shard) Abandon() {
	c.isStopping, c.isFetching = true, false
	c.dispatcher.stop(c.loop.Now())
	for _, conn := range c.conns {
		conn.abandon()
	}
}
