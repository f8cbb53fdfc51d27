package mailserver

import "io"

// Moment is a point of a conversation: a command, before it is answered, or one of the following.
type Moment string

// The moments that are no commands.
const (
	// Greeting is before the server says anything.
	Greeting Moment = "greeting"
	// Content is when a message begins to be read.
	Content Moment = "message"
	// End is when the whole message was read, and nothing was done with it.
	End Moment = "end"
	// Taken is when the message was taken over, and nobody was told.
	Taken Moment = "taken"
)

// Fault is something that goes wrong. What is set happens in the order of the fields.
type Fault struct {
	// At is when: a command such as RCPT in upper case, or another moment.
	At Moment
	// Times is how often, 0 means always; Skip is how often it does not before that.
	Times, Skip int
	// Reply is sent as it is in place of an answer.
	Reply string
	// Flood sends Reply again and again until the client is gone.
	Flood bool
	// Stall says nothing more until the client is gone.
	Stall bool
	// Close breaks the connection off. Without Flood, Stall and Close the conversation goes on.
	Close bool
}

// fault returns what goes wrong at a moment, and counts it.
func (s *Server) fault(at Moment) (Fault, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.faults {
		f := &s.faults[i]
		switch {
		case f.At != at || f.Times < 0:
			continue
		case f.Skip > 0:
			f.Skip--
			continue
		case f.Times > 0:
			if f.Times--; f.Times == 0 {
				f.Times = -1 // used up
			}
		}
		return *f, true
	}
	return Fault{}, false
}

// happen lets go wrong what goes wrong at a moment. handled says that nothing else is answered, over that the connection ends.
func (s *session) happen(at Moment) (handled, over bool) {
	f, ok := s.server.fault(at)
	if !ok {
		return false, false
	}
	io.WriteString(s.conn, f.Reply)
	for f.Flood {
		if _, err := io.WriteString(s.conn, f.Reply); err != nil {
			return true, true
		}
	}
	if f.Stall {
		select {
		case s.server.stalled <- struct{}{}:
		default:
		}
		io.Copy(io.Discard, s.conn)
	}
	return true, f.Stall || f.Close
}
