package target

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/fwpsuite/fwp/internal/base/input"
)

// listenState is that of a socket that listens, in /proc/net/tcp.
const listenState = "0A"

// listeners returns the sockets of this machine that listen at an address, by their inodes.
func listeners(at *net.TCPAddr) (inodes []string) {
	for _, table := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		text, _ := input.Read(table, 64<<20) // none where there is no IPv6
		for line := range strings.Lines(string(text)) {
			f := strings.Fields(line) // sl, local address, remote address, state, ..., inode
			if len(f) < 10 || f[3] != listenState {
				continue
			}
			host, port, _ := strings.Cut(f[1], ":")
			n, err := strconv.ParseUint(port, 16, 16)
			ip := kernelIP(host)
			if err == nil && int(n) == at.Port && (ip.IsUnspecified() || ip.Equal(at.IP)) {
				inodes = append(inodes, f[9])
			}
		}
	}
	return inodes
}

// kernelIP reads an address as the kernel writes it: words of four bytes, each as a number of this machine.
func kernelIP(text string) net.IP {
	words, err := hex.DecodeString(text)
	if err != nil || len(words)%4 != 0 {
		return nil
	}
	for i := 0; i < len(words); i += 4 {
		binary.NativeEndian.PutUint32(words[i:], binary.BigEndian.Uint32(words[i:]))
	}
	return words
}

// holders returns the processes that have one of some sockets open, as far as this process may know. root, if not 0, is
// the process above them.
func holders(inodes []string, root int) (all []holder) {
	if len(inodes) == 0 {
		return nil
	}
	for _, pid := range processes(root) {
		files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid)) // the pattern is valid
		for _, file := range files {
			to, _ := os.Readlink(file)
			inode, ok := strings.CutPrefix(to, "socket:[")
			if inode = strings.TrimSuffix(inode, "]"); !ok || !slices.Contains(inodes, inode) {
				continue
			}
			h := holder{inode: inode, pid: pid}
			if _, h.startTime = processState(pid); !slices.Contains(all, h) {
				all = append(all, h)
			}
		}
	}
	return all
}

// processes returns the processes below root, or all if it is 0.
func processes(root int) (all []int) {
	if root == 0 {
		names, _ := filepath.Glob("/proc/[0-9]*") // the pattern is valid
		for _, name := range names {
			pid, _ := strconv.Atoi(filepath.Base(name))
			all = append(all, pid)
		}
		return all
	}
	for rest := childrenOf(root); len(rest) > 0; rest = rest[1:] {
		all = append(all, rest[0])
		rest = append(rest, childrenOf(rest[0])...)
	}
	return all
}

// processState returns the state of a process, such as "T", and when it was started, in ticks since the system was.
func processState(pid int) (state, started string) {
	text, _ := input.Read(fmt.Sprintf("/proc/%d/stat", pid), 1<<16) // none if it has ended
	at := strings.LastIndex(string(text), ")")                      // behind the name of its program
	if f := strings.Fields(string(text)[at+1:]); len(f) > 19 {
		return f[0], f[19]
	}
	return "", ""
}

// files returns the program of a process, and the regular files that its arguments name.
func (h holder) files() (all []ServingFile) {
	dir := fmt.Sprintf("/proc/%d/", h.pid)
	program, err := os.Readlink(dir + "exe")
	if err != nil {
		return nil
	}
	all = []ServingFile{{filepath.Base(strings.TrimSuffix(program, " (deleted)")), dir + "exe"}}
	folder, _ := os.Readlink(dir + "cwd")
	line, _ := input.Read(dir+"cmdline", 1<<20)
	_, arguments, _ := strings.Cut(string(line), "\x00")
	for word := range strings.SplitSeq(arguments, "\x00") {
		if word != "" && !filepath.IsAbs(word) {
			word = filepath.Join(folder, word)
		}
		path := filepath.Join(dir, "root", word) // the process may be in a file system of its own
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			all = append(all, ServingFile{filepath.Base(word), path})
		}
	}
	return all
}
