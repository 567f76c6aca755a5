package engine

import (
	"errors"
	"os"
	"runtime"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	// batch is the most events that are taken from the kernel at once.
	batch = 256
	// minSleep is the least time for which a loop that has nothing to read sleeps: what is due
	// within it is sent together, because a sleep of its own would take as long.
	minSleep = 20 * time.Microsecond
)

// NewEpoll returns a running engine whose loops are threads, each with an epoll and non-blocking
// sockets of its own. It needs Config.Resolve, and holds resources until it is closed. The error
// is that of the kernel, such as too many open files.
func NewEpoll(config Config) (Engine, error) {
	e := newDriver("epoll", config)
	front := &lookup{engine: e, resolve: config.Resolve}
	back := front
	if config.ResolveBackend != nil {
		back = &lookup{engine: e, resolve: config.ResolveBackend}
	}
	for range e.config.Loops {
		p, err := newPoller(e.start)
		if err != nil {
			return nil, errors.Join(err, e.Close())
		}
		p.front, p.back = front, back
		p.loop = newLoop(e, p, p.newSocket)
		e.add(p.loop)
		if p.timer >= 0 {
			e.name = "epoll (sleeps by timerfd: this kernel has no epoll_pwait2)"
		}
		e.wg.Go(p.run)
	}
	return e, nil
}

// poller is the thread of a loop, and its waker: it waits for sockets until the instant comes.
type poller struct {
	loop        *loop
	front       *lookup // of the server, which all loops share
	back        *lookup // of its backend port; the same as front if it has none
	start       time.Time
	epoll       int
	wake        int // an eventfd, which ends a wait
	timer       int // a timerfd, for kernels without epoll_pwait2; -1: not needed
	events      [batch]unix.EpollEvent
	limit       unix.Timespec // of a wait; here, because the kernel must find it where it was
	sockets     []*socket     // by descriptor
	isBatching  bool          // the latest wait brought more than one event
	socketCount int32         // sockets since the start
	sourceCount uint32        // source addresses since the start

	// Whoever is in the loop sets at or isClosed. The thread first sets isWaiting and then reads both, so that
	// either it sees the change or the other sees that it has to be woken.
	at        atomic.Int64 // the instant, by the engine's clock; 0: none
	isWaiting atomic.Bool
	isClosed  atomic.Bool
}

// bookWait books how long n events have waited that were handled in a time, half of it each on average; and half of it
// before, if they came while the events before them were handled.
func (p *poller) bookWait(n int, duration time.Duration, isBehind bool) {
	total := duration * time.Duration(n)
	if !isBehind {
		total /= 2
	}
	p.loop.waitTime.Add(int64(total))
	p.loop.arrivals.Add(int64(n))
}

func newPoller(start time.Time) (*poller, error) {
	p := &poller{start: start, epoll: -1, wake: -1, timer: -1}
	if err := p.open(); err != nil {
		p.release()
		return nil, err
	}
	return p, nil
}

func (p *poller) open() (err error) {
	if p.epoll, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		return os.NewSyscallError("epoll_create1", err)
	}
	if p.wake, err = unix.Eventfd(0, unix.EFD_NONBLOCK|unix.EFD_CLOEXEC); err != nil {
		return os.NewSyscallError("eventfd", err)
	}
	if err = p.watch(unix.EPOLL_CTL_ADD, p.wake, unix.EPOLLIN, 0); err != nil {
		return err
	}
	if _, err := p.epollWait(syscall.RawSyscall6, 0); !errors.Is(err, unix.ENOSYS) {
		return nil
	}
	if p.timer, err = unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC); err != nil {
		return os.NewSyscallError("timerfd_create", err)
	}
	return p.watch(unix.EPOLL_CTL_ADD, p.timer, unix.EPOLLIN, 0)
}

func (p *poller) release() {
	for _, fd := range []int{p.epoll, p.wake, p.timer} {
		if fd >= 0 {
			_ = unix.Close(fd)
		}
	}
}

// watch tells the kernel which events of a descriptor the loop awaits.
func (p *poller) watch(op, fd int, events uint32, generation int32) error {
	event := unix.EpollEvent{Events: events, Fd: int32(fd), Pad: generation}
	return os.NewSyscallError("epoll_ctl", unix.EpollCtl(p.epoll, op, fd, &event))
}

// run is the thread. It keeps its slack of timers for itself: the thread ends with it.
func (p *poller) run() {
	runtime.LockOSThread()
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0) // in nanoseconds; else sleeps end 50 us late
	l := p.loop
	for {
		n := p.await()
		isBehind := p.isBatching && n > 1
		p.isBatching = n > 1
		if p.isClosed.Load() {
			p.release()
			return
		}
		before := l.busy.Load()
		l.enter()
		l.alarm = 0
		p.at.Store(0)
		for i := range p.events[:n] {
			p.dispatch(&p.events[i])
			l.settle() // a batch may take milliseconds
		}
		l.leave()
		p.bookWait(n, time.Duration(l.busy.Load()-before), isBehind)
	}
}

// dispatch hands an event to its socket, unless that was closed since.
func (p *poller) dispatch(event *unix.EpollEvent) {
	fd := int(event.Fd)
	switch {
	case fd == p.wake || fd == p.timer:
		var count [8]byte
		_, _ = readNow(uintptr(fd), count[:]) // it makes the descriptor quiet
	case fd < len(p.sockets) && p.sockets[fd] != nil && p.sockets[fd].generation == event.Pad:
		p.sockets[fd].handleEvents(event.Events)
	}
}

// await waits for events until the instant comes, and returns how many there are in p.events.
func (p *poller) await() int {
	// Under load there is something already: this call does not block, and the runtime need not know of it. After a wait
	// that brought a single event there mostly is nothing, because the server is slower than the loop.
	if p.isBatching {
		if n := p.ignoreError(p.epollWait(syscall.RawSyscall6, 0)); n > 0 {
			return n
		}
	}
	p.isWaiting.Store(true)
	defer p.isWaiting.Store(false)
	if p.isClosed.Load() {
		return 0
	}
	timeout := time.Duration(-1)
	if at := p.at.Load(); at != 0 {
		timeout = max(minSleep, time.Duration(at)-time.Since(p.start))
	}
	if p.timer >= 0 {
		p.setTimer(timeout)
		timeout = -1
	}
	if p.loop.engine.config.KeepProcessors {
		// The runtime believes that the thread runs. Its signals, by which it asks running threads to stop (every 10 ms,
		// and for the garbage collector), end the wait.
		return p.ignoreError(p.epollWait(syscall.RawSyscall6, timeout))
	}
	// The runtime must know that this call blocks: it gives the processor to other goroutines.
	return p.ignoreError(p.epollWait(syscall.Syscall6, timeout))
}

func (p *poller) setTimer(timeout time.Duration) {
	spec := unix.ItimerSpec{Value: unix.NsecToTimespec(max(0, int64(timeout)))}
	_ = unix.TimerfdSettime(p.timer, 0, &spec, nil) // fails only for a wrong argument
}

// syscall6 is syscall.Syscall6 or syscall.RawSyscall6.
type syscall6 func(trap, a1, a2, a3, a4, a5, a6 uintptr) (r1, r2 uintptr, err syscall.Errno)

// epollWait calls the kernel once. A negative timeout is for ever.
func (p *poller) epollWait(call syscall6, timeout time.Duration) (int, error) {
	events := uintptr(unsafe.Pointer(&p.events[0]))
	if p.timer >= 0 {
		milliseconds := -1
		if timeout == 0 {
			milliseconds = 0
		}
		n, _, errno := call(unix.SYS_EPOLL_PWAIT, uintptr(p.epoll), events, batch, uintptr(milliseconds), 0, 0)
		return eventCount(n, errno)
	}
	var limit uintptr // 0: none
	if timeout >= 0 {
		p.limit = unix.NsecToTimespec(int64(timeout))
		limit = uintptr(unsafe.Pointer(&p.limit))
	}
	n, _, errno := call(unix.SYS_EPOLL_PWAIT2, uintptr(p.epoll), events, batch, limit, 0, 0)
	return eventCount(n, errno)
}

func eventCount(n uintptr, errno syscall.Errno) (int, error) {
	if errno != 0 {
		return 0, errno
	}
	return int(n), nil
}

// ignoreError drops the error of a wait: the only one that comes is EINTR, and then nothing has happened.
func (p *poller) ignoreError(n int, _ error) int { return n }

// set is called inside the loop, by the thread itself or by somebody else.
func (p *poller) set(at time.Duration) {
	p.at.Store(int64(at))
	p.interrupt()
}

// interrupt ends a wait.
func (p *poller) interrupt() {
	if p.isWaiting.Load() {
		increment := [8]byte{0: 1} // in either order of bytes it is not 0
		_, _ = writeNow(uintptr(p.wake), increment[:])
	}
}

func (p *poller) close() {
	p.isClosed.Store(true)
	p.interrupt()
}
