package journal

// fold adds an entry that judge has let pass.
func (s *State) fold(e Entry) {
	s.Len, s.Head, s.Time = e.Seq+1, e.Hash, e.Time
	switch e.Kind {
	case Created:
		s.Began, s.Driver = e.Time, e.Name
	case Claimed:
		if s.Owner != "" && !s.Progress {
			s.Crashes++
		}
		s.Owner, s.Lease, s.Progress, s.Stopped, s.Due, s.Woken = e.Owner, e.Lease, false, "", 0, false
	case Released:
		s.Owner, s.Lease, s.Stopped, s.Due = "", 0, e.Name, e.Due
	case Intent:
		s.foldIntent(e)
	case Result:
		s.foldResult(e)
	case Void:
		delete(s.Open, e.Step)
		delete(s.Asked, e.Step.Asks())
		s.again(e.Step)
		s.Progress, s.Crashes = true, 0
	case Record:
		s.foldRecord(e)
	case Late:
		if _, open := s.Open[e.Step]; open && s.Finished && e.By != "" {
			delete(s.Open, e.Step) // somebody settled what a closed run had left in doubt
			return
		}
		s.Late++
	case Cancel:
		s.CancelAsked, s.Woken = true, true
	case Restored:
		s.Unconfirmed, s.Owner, s.Lease = true, "", 0
		for step, o := range s.Open {
			o.Unsent = false // it may have been sent after the backup was made
			s.Open[step] = o
		}
	case Finished:
		s.Finished, s.Outcome, s.Owner, s.Lease, s.Again, s.Asked, s.Due, s.Woken = true, e.Outcome, "", 0, nil, nil, 0, false
	}
}

func (s *State) foldIntent(e Entry) {
	if s.Open == nil {
		s.Open = map[Step]OpenStep{}
	}
	s.Open[e.Step] = OpenStep{Seq: e.Seq, OnCut: e.OnCut, Name: e.Name, Due: e.Due, Expires: e.Expires}
	s.begin(e.Step)
	delete(s.Asked, e.Step.First()) // the yes is used up
	if about := e.Step.Asks(); about != "" {
		if s.Asked == nil {
			s.Asked = map[Step]Answer{}
		}
		s.Asked[about] = Answer{Question: e.Step, Request: e.Request, Module: e.Module, Expires: e.Expires}
	}
}

func (s *State) foldRecord(e Entry) {
	o, open := s.Open[e.Step]
	switch {
	case e.labels():
		s.foldLabel(e)
	case e.Name == RecordAcknowledged:
		s.Late = 0
		s.cleared()
	case e.Name == RecordConfirmed:
		s.Unconfirmed = false
		s.cleared()
	case e.Name == RecordImported && !s.Finished:
		s.Imported, s.Owner, s.Lease, s.Due = true, "", 0, 0
	case e.Name == RecordWithdrawn:
		if a, asked := s.Asked[e.Step.Asks()]; asked && a.Question == e.Step {
			a.Yes = false
			s.Asked[e.Step.Asks()] = a
		}
		s.Woken = true
	case e.Name == RecordEvidence && open:
		o.Unsent = e.Effect == EffectNone
		s.Open[e.Step] = o
		if o.Unsent {
			s.Woken = true
		}
	case e.Name == RecordExpired && open && o.OnCut == Redo:
		o.OnCut = Doubt
		s.Open[e.Step] = o
	}
}

// cleared notes that somebody has said something. When nothing else is left to say, the run can go on.
func (s *State) cleared() {
	if s.Stopped == StopUncertain && s.Late == 0 && !s.Unconfirmed && len(s.InDoubt()) == 0 {
		s.Stopped = StopInterrupted
	}
	s.Woken = true
}

func (s *State) foldResult(e Entry) {
	o, open := s.Open[e.Step]
	if !open {
		s.begin(e.Step)
	}
	delete(s.Open, e.Step)
	if o.Touched || (o.OnCut == Doubt && e.Effect != EffectNone) {
		for p := e.Step.Parent(); p != ""; p = p.Parent() {
			if above, ok := s.Open[p]; ok {
				above.Touched = true
				s.Open[p] = above
			}
		}
	}
	for below := range s.Again {
		if below.Within(e.Step) {
			delete(s.Again, below)
		}
	}
	if e.Retry {
		s.again(e.Step)
	}
	if about := e.Step.Asks(); about != "" {
		if a, asked := s.Asked[about]; asked {
			a.Yes = e.Outcome == OK
			s.Asked[about] = a
		}
	} else {
		delete(s.Asked, e.Step.First()) // it was refused, and has an outcome without having begun
	}
	if o.OnCut == Await && e.Owner == "" {
		s.Woken = true
	}
	if e.Step.Parent() == "" {
		s.Steps++
	}
	s.Progress, s.Crashes = true, 0
}

// begin uses up the permission of the attempt before.
func (s *State) begin(step Step) {
	if n := step.Attempt(); n > 1 {
		delete(s.Again, step.At(n-1))
	}
}

func (s *State) again(step Step) {
	if s.Again == nil {
		s.Again = map[Step]bool{}
	}
	s.Again[step] = true
}
