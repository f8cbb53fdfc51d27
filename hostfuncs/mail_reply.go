package hostfuncs

import (
	"bufio"
	"bytes"
	"errors"
	"strings"
)

// Caps of what a mail server says.
const (
	// maxMailLine is the longest line of a reply, in bytes with its end. RFC 5321 has 512.
	maxMailLine = 2 << 10
	// maxMailLines is how many lines a reply may have.
	maxMailLines = 128
)

// mailReply is a reply of a mail server.
type mailReply struct {
	code  int
	lines []string // what is behind the code, line by line, as the server wrote it
}

// kind is the first digit of the code.
func (r mailReply) kind() int { return r.code / 100 }

// readMailReply reads one reply, which may have several lines. What is no reply, or is over a cap, is a *replyError.
func readMailReply(r *bufio.Reader) (mailReply, error) {
	var reply mailReply
	for len(reply.lines) < maxMailLines {
		line, err := readLine(r, nil, maxMailLine)
		if errors.Is(err, errTooLong) {
			return mailReply{}, malformed("the server sent an overlong line")
		}
		if err != nil {
			return mailReply{}, err
		}
		line = bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
		code, more, text, ok := splitMailReply(line)
		if !ok || reply.code != 0 && code != reply.code {
			return mailReply{}, malformed("the server sent what is no reply of SMTP")
		}
		reply.code = code
		reply.lines = append(reply.lines, text)
		if !more {
			return reply, nil
		}
	}
	return mailReply{}, malformed("the server sent a reply without end")
}

// splitMailReply reads "250-SIZE 1000": a code, whether more lines follow, and text.
func splitMailReply(line []byte) (code int, more bool, text string, ok bool) {
	if len(line) < 3 || line[0] < '2' || line[0] > '5' || line[1] < '0' || line[1] > '9' || line[2] < '0' || line[2] > '9' {
		return 0, false, "", false
	}
	code = int(line[0]-'0')*100 + int(line[1]-'0')*10 + int(line[2]-'0')
	switch {
	case len(line) == 3:
		return code, false, "", true
	case line[3] != ' ' && line[3] != '-':
		return 0, false, "", false
	}
	return code, line[3] == '-', string(line[4:]), true
}

// extensions reads what a server says of itself to EHLO: keywords in upper case, and what is behind each of them.
func (r mailReply) extensions() map[string]string {
	found := map[string]string{}
	for _, line := range r.lines[min(1, len(r.lines)):] {
		word, params, _ := strings.Cut(line, " ")
		word = strings.ToUpper(word)
		found[word] = strings.TrimSpace(found[word] + " " + strings.ToUpper(params))
	}
	return found
}
