package main

import "os/user"

// userName is who the journal says it was.
func userName() string {
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return ""
}
