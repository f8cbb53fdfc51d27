//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package screen

import "golang.org/x/sys/unix"

// fdSize asks a terminal for its size. One that has none, as on a serial line, is a terminal all the same.
func fdSize(fd uintptr) (columns, lines int, ok bool) {
	if _, err := unix.IoctlGetTermios(int(fd), getTermios); err != nil {
		return 0, 0, false
	}
	size, err := unix.IoctlGetWinsize(int(fd), unix.TIOCGWINSZ)
	if err != nil {
		return 0, 0, true
	}
	return int(size.Col), int(size.Row), true
}

// acts says whether the terminal acts upon control sequences.
func acts(uintptr) bool { return true }
