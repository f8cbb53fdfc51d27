package mixed

import (
	"bytes"
	"os"
	"strconv"
	"strings"
)

// system reads what the kernel says of this process.
func (m *sample) system() {
	status, _ := os.ReadFile("/proc/self/status")
	for line := range strings.Lines(string(status)) {
		f := strings.Fields(line)
		if len(f) != 3 {
			continue
		}
		n, _ := strconv.ParseInt(f[1], 10, 64)
		switch n <<= 10; f[0] {
		case "VmRSS:":
			m.rss = n
		case "RssAnon:":
			m.anon = n
		case "RssShmem:":
			m.shmem = n
		}
	}
	maps, _ := os.ReadFile("/proc/self/maps")
	m.mappings = int64(bytes.Count(maps, []byte("\n")))
	m.descriptors = descriptors("/proc/self/fd")
}
