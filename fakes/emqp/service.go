package emqp

import (
	"context"
	"net"
	"sync"
)

// Service is a broker that can be started again at the same addresses. Its methods may be called at the same time.
type Service struct {
	Config func() Config                // called at each start, since hooks have state; nil: the zero Config
	Front  func() (net.Listener, error) // for clients and schedulers
	Back   func() (net.Listener, error) // for workers; nil: Front is for all

	mu     sync.Mutex
	broker *Broker // nil: none runs
}

// Restart starts the broker. One that runs is closed before.
func (s *Service) Restart(context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.close()
	front, err := s.Front()
	if err != nil {
		return err
	}
	var back net.Listener
	if s.Back != nil {
		if back, err = s.Back(); err != nil {
			_ = front.Close()
			return err
		}
	}
	var config Config
	if s.Config != nil {
		config = s.Config()
	}
	s.broker = Start(config, front, back)
	return nil
}

// Close ends the broker, if it runs.
func (s *Service) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.close()
}

func (s *Service) close() {
	if s.broker != nil {
		s.broker.Close()
	}
	s.broker = nil
}
