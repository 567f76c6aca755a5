package fakes

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/fwpsuite/fwp/fakes/store"
	"github.com/fwpsuite/fwp/internal/base/input"
	"github.com/fwpsuite/fwp/internal/base/machine"
)

// Snapshot has the jobs and counts of a server that does not run.
type Snapshot struct {
	Jobs []StoredJob // as [Server.Jobs] returns them
	// Dead, Processed and Failures are counts of INFO.
	Dead                int
	Processed, Failures int64
	// Killed is set if the server was killed and its jobs are still in memory.
	Killed bool `json:"-"`
}

// snapshotFile is its name in Config.Dir.
const snapshotFile = "store.json"

// snapshotLimit is how many bytes of it are read.
const snapshotLimit = 1 << 30

// snapshot returns what the server keeps now.
func (s *Server) snapshot() Snapshot {
	n := s.store.Sizes()
	return Snapshot{Jobs: s.Jobs(), Dead: n.Dead, Processed: n.Processed, Failures: n.Failures}
}

// reload has the store be what [Config.Restored] makes of it, if that is set: so a restart is like a stop, and a start
// that reads the folder.
func (s *Server) reload(killed bool) {
	if s.cfg.Restored != nil {
		snapshot := s.snapshot()
		snapshot.Killed = killed
		s.store.Clear(&Event{})
		s.restore(snapshot)
	}
}

// save writes the store to its folder. A store that cannot be written is lost.
func (s *Server) save() {
	if s.cfg.Dir == "" {
		return
	}
	b, err := json.Marshal(s.snapshot())
	if err != nil {
		return
	}
	path := filepath.Join(s.cfg.Dir, snapshotFile)
	if os.WriteFile(path+".new", b, 0o600) == nil {
		_ = os.Rename(path+".new", path)
	}
}

// load reads the store from its folder, if there is one. Jobs with an After are read later; a server that is closed
// before that reads them at once.
func (s *Server) load() error {
	if s.cfg.Dir == "" {
		return nil
	}
	b, err := input.Read(filepath.Join(s.cfg.Dir, snapshotFile), snapshotLimit)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var snapshot Snapshot
	if err == nil {
		err = json.Unmarshal(b, &snapshot)
	}
	if err != nil {
		return fmt.Errorf("read the store: %w", err)
	}
	s.restore(snapshot)
	return nil
}

// restore fills the store.
func (s *Server) restore(snapshot Snapshot) {
	if s.cfg.Restored != nil {
		s.cfg.Restored(&snapshot)
	}
	s.store.SetCounts(snapshot.Dead, snapshot.Processed, snapshot.Failures)
	later := map[time.Duration][]StoredJob{}
	for _, j := range snapshot.Jobs {
		later[j.After] = append(later[j.After], j)
	}
	for after, jobs := range later {
		if after <= 0 {
			s.restoreJobs(jobs)
			continue
		}
		s.clock.Go(func() {
			machine.Wait(s.done, after)
			s.restoreJobs(jobs)
		})
	}
}

func (s *Server) restoreJobs(jobs []StoredJob) {
	for _, storedJob := range jobs {
		unit, refusal := parseObject(storedJob.Unit)
		if refusal != nil {
			continue // only a hook can have made such a one
		}
		j := newJob(unit, &s.cfg)
		j.queue, j.failures = storedJob.Queue, storedJob.Failures
		set := store.Set(storedJob.Place)
		if storedJob.Place == "queue" || storedJob.Place == "working" {
			set = store.Nowhere
		}
		s.store.Restore(&Event{}, store.StoredJob[*job]{Job: j, Set: set, DueTime: storedJob.Due})
	}
}
