package health

import "runtime"

// Machine is the machine of this process, with the fields of reports.Machine. What the operating system does not
// provide is empty or 0.
type Machine struct {
	OS, Arch    string
	Kernel      string // release
	CPU         string // model
	Cores       int
	GOMAXPROCS  int
	Go          string // version
	MemoryBytes int64
}

// ThisMachine returns the machine of this process.
func ThisMachine() Machine {
	m := Machine{
		OS: runtime.GOOS, Arch: runtime.GOARCH, Cores: runtime.NumCPU(), GOMAXPROCS: runtime.GOMAXPROCS(0),
		Go: runtime.Version(),
	}
	describe(&m)
	return m
}
