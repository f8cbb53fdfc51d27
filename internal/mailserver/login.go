package mailserver

import (
	"encoding/base64"
	"slices"
	"strings"
)

// login answers AUTH with PLAIN, its response in the same line, or with LOGIN, whose first response may be there too.
func (s *session) login(rest string) {
	cfg := &s.server.cfg
	way, response, _ := strings.Cut(rest, " ")
	way = strings.ToUpper(way)
	if cfg.User == "" || !slices.Contains(cfg.Ways, way) || cfg.TLS != nil && !s.secure {
		s.say("504 5.5.4 not that way")
		return
	}
	user, password := "", ""
	switch way {
	case "PLAIN":
		parts := strings.Split(decode(response), "\x00")
		if len(parts) == 3 {
			user, password = parts[1], parts[2]
		}
	case "LOGIN":
		name := response
		if name == "" {
			s.say("334 VXNlcm5hbWU6")
			name, _ = s.line()
		}
		s.say("334 UGFzc3dvcmQ6")
		word, _ := s.line()
		user, password = decode(name), decode(word)
	}
	if user != cfg.User || password != cfg.Password {
		s.say("535 5.7.8 " + response + " is not known") // as a careless one would
		return
	}
	s.user = user
	s.say("235 2.7.0 welcome")
}

func decode(s string) string {
	b, err := base64.StdEncoding.DecodeString(s)
	if err != nil {
		return ""
	}
	return string(b)
}
