package boltdb

import (
	"bytes"
	"fmt"
	"os"
)

// stopped says whether a process was stopped, as by SIGSTOP or a debugger.
func stopped(pid int) bool {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	return stoppedIn(b)
}

// stoppedIn reads the state in a line of /proc: behind the name of the program, which may have anything in it.
func stoppedIn(stat []byte) bool {
	i := bytes.LastIndexByte(stat, ')')
	if i < 0 {
		return false
	}
	state := bytes.TrimLeft(stat[i+1:], " ")
	return len(state) > 0 && (state[0] == 'T' || state[0] == 't')
}
