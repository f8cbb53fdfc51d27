package main

import "os"

// isTerminal says whether somebody sits there. Not every device of characters is a terminal: /dev/null is none.
func isTerminal(f *os.File) bool {
	conn, err := f.SyscallConn() // and not Fd, which would make the file block
	if err != nil {
		return false
	}
	yes := false
	err = conn.Control(func(fd uintptr) { yes = fdIsTerminal(fd) })
	return err == nil && yes
}
