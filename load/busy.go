package load

import "time"

// markBusy notes how long every loop has been at work so far.
func (r *run) markBusy() {
	for i := range r.busy {
		r.busy[i] = r.engine.Busy(i)
	}
}

// loopsBusy is the share of the time since then in which each loop was at work.
func (r *run) loopsBusy(over time.Duration) []float64 {
	if over <= 0 {
		return nil
	}
	shares := make([]float64, len(r.busy))
	for i, before := range r.busy {
		shares[i] = min(1, float64(r.engine.Busy(i)-before)/float64(over))
	}
	return shares
}
