package memory

// Tells says how this system tells which pages of an instance were written, so that it can be used again quickly: userfaultfd,
// PAGEMAP_SCAN or pagemap, the best one first; "" where all of the memory is compared instead.
func Tells() string {
	switch newFinder().(type) {
	case *watcher:
		return "userfaultfd"
	case *scanner:
		return "PAGEMAP_SCAN"
	case *reader:
		return "pagemap"
	}
	return ""
}
