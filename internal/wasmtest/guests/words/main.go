// Command words is a program for tests, as somebody might have it lying about: it counts the words of the files that are its
// arguments, or of its standard input when there are none, and knows nothing of wrun.
package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
)

func main() {
	if len(os.Args) == 1 {
		count(os.Stdin, "-")
	}
	for _, name := range os.Args[1:] {
		f, err := os.Open(name)
		if err != nil {
			fmt.Fprintln(os.Stderr, "words:", err)
			os.Exit(1)
		}
		count(f, name)
	}
}

func count(r io.Reader, name string) {
	words := bufio.NewScanner(r)
	words.Split(bufio.ScanWords)
	n := 0
	for words.Scan() {
		n++
	}
	fmt.Println(n, name)
}
