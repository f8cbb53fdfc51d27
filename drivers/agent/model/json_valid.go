package model

// maxDepth is how deep arrays and objects may nest, as in encoding/json.
const maxDepth = 10000

// valid says whether b is one JSON value, with what encoding/json takes for one: strings can hold what is no UTF-8. It is
// json.Valid several times as fast: a conversation is judged anew each time that it is encoded, and a stream piece by piece.
func valid(b []byte) bool {
	var few [64]byte
	open := few[:0] // the brackets that are open
	for i := 0; ; {
		i = skipSpace(b, i)
		if i >= len(b) {
			return false
		}
		if c := b[i]; c == '{' || c == '[' {
			if len(open) == maxDepth {
				return false
			}
			open = append(open, c)
			if end := skipSpace(b, i+1); end >= len(b) || b[end] != closing(c) {
				if i = validName(b, i+1, c); i < 0 {
					return false
				}
				continue
			}
			i++
		} else if i = validScalar(b, i); i < 0 {
			return false
		}
		var more bool
		if i, open, more = validEnd(b, i, open); !more {
			return i == len(b)
		}
	}
}

func closing(c byte) byte { return c + 2 } // of { and [

// validEnd goes from the end of a value to the begin of the next one. Without one it returns len(b) when that is the end, and -1
// when it is not.
func validEnd(b []byte, i int, open []byte) (int, []byte, bool) {
	for {
		i = skipSpace(b, i)
		switch {
		case len(open) == 0 && i == len(b):
			return i, open, false
		case len(open) == 0 || i >= len(b):
			return -1, open, false
		}
		c := open[len(open)-1]
		switch b[i] {
		case closing(c):
			open = open[:len(open)-1]
			i++
		case ',':
			i = validName(b, i+1, c)
			return i, open, i >= 0
		default:
			return -1, open, false
		}
	}
}

// validName returns the place behind a name and its colon, -1 when there is none. An array, which c opens, has no names.
func validName(b []byte, i int, c byte) int {
	if c == '[' {
		return i
	}
	i = skipSpace(b, i)
	if i >= len(b) || b[i] != '"' {
		return -1
	}
	if i = validString(b, i); i < 0 {
		return -1
	}
	i = skipSpace(b, i)
	if i >= len(b) || b[i] != ':' {
		return -1
	}
	return i + 1
}

// validScalar returns the place behind the string, the number or the word that begins at i, -1 when none does.
func validScalar(b []byte, i int) int {
	switch b[i] {
	case '"':
		return validString(b, i)
	case 't':
		return validWord(b, i, "true")
	case 'f':
		return validWord(b, i, "false")
	case 'n':
		return validWord(b, i, "null")
	}
	return validNumber(b, i)
}

func validWord(b []byte, i int, word string) int {
	if len(b)-i < len(word) || string(b[i:i+len(word)]) != word {
		return -1
	}
	return i + len(word)
}

func validString(b []byte, i int) int {
	for i++; i < len(b); i++ {
		switch c := b[i]; {
		case c == '"':
			return i + 1
		case c < ' ':
			return -1
		case c == '\\':
			i++
			if i == len(b) {
				return -1
			}
			switch b[i] {
			case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
			case 'u':
				if hexCode(b[i+1:]) < 0 {
					return -1
				}
				i += 4
			default:
				return -1
			}
		}
	}
	return -1
}

func validNumber(b []byte, i int) int {
	if b[i] == '-' {
		i++
	}
	begin := i
	if i = skipDigits(b, i); i == begin || b[begin] == '0' && i > begin+1 {
		return -1
	}
	if i < len(b) && b[i] == '.' {
		begin = i + 1
		if i = skipDigits(b, begin); i == begin {
			return -1
		}
	}
	if i < len(b) && (b[i] == 'e' || b[i] == 'E') {
		i++
		if i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		begin = i
		if i = skipDigits(b, begin); i == begin {
			return -1
		}
	}
	return i
}

func skipDigits(b []byte, i int) int {
	for i < len(b) && b[i] >= '0' && b[i] <= '9' {
		i++
	}
	return i
}
