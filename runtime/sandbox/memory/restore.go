package memory

import "bytes"

// osPage is what is compared and copied at a time, in bytes: the smallest page that a system has.
const osPage = 4 << 10

// restore makes a piece of a memory, at is where it begins, what the image has there: zero behind its end. It returns how
// many bytes were otherwise, in whole pages. Bytes that are as they should be are not written, so that a page that the
// system has not given yet stays so.
func restore(piece, image []byte, at uint64) (changed int) {
	if behind := uint64(len(image)); at < behind {
		n := min(uint64(len(piece)), behind-at)
		changed = restoreFrom(piece[:n], image[at:at+n])
		piece = piece[n:]
	}
	return changed + restoreZero(piece)
}

func restoreFrom(piece, image []byte) (changed int) {
	for len(piece) > 0 {
		n := min(len(piece), osPage)
		if !bytes.Equal(piece[:n], image[:n]) {
			copy(piece[:n], image)
			changed += n
		}
		piece, image = piece[n:], image[n:]
	}
	return changed
}

var zero [osPage]byte

func restoreZero(piece []byte) (changed int) {
	for len(piece) > 0 {
		n := min(len(piece), osPage)
		if !bytes.Equal(piece[:n], zero[:n]) {
			clear(piece[:n])
			changed += n
		}
		piece = piece[n:]
	}
	return changed
}

func isZero(b []byte) bool {
	for len(b) > 0 {
		n := min(len(b), osPage)
		if !bytes.Equal(b[:n], zero[:n]) {
			return false
		}
		b = b[n:]
	}
	return true
}
