package runtime

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/wrun-dev/wrun/journal"
)

// Label gives a run labels, and takes away those that remove names; what is so already is not written again. It may be said by anyone
// at any time, also of a run that is finished, or that another process drives, and changes nothing that the run does.
//
// Errors: *LabelError for what is no label, or too many; *SecretError for one with a value of a secret in it; journal.ErrNotFound and
// journal.ErrRemoved.
func (e *Engine) Label(ctx context.Context, run, by string, set map[string]string, remove ...string) error {
	if err := validateLabels(set, remove...); err != nil {
		return err
	}
	l, err := e.load(ctx, run)
	if err != nil {
		return err
	}
	for _, text := range labelTexts(set) {
		if err := e.secretIn(ctx, l, "a label", []byte(text)); err != nil {
			return err
		}
	}
	return untilSettled(func() error {
		s, err := e.state(ctx, run)
		if err != nil {
			return err
		}
		entries := labelEntries(s, set, remove)
		if len(entries) == 0 {
			return nil
		}
		for i := range entries {
			entries[i].By = by
		}
		err = e.extend(ctx, s, entries...)
		if errors.Is(err, journal.ErrInvalid) { // all but their number was judged before
			return &LabelError{fmt.Errorf("run %s: at most %d labels are allowed", run, journal.MaxLabels)}
		}
		return err
	})
}

// labelEntries are the entries that change the labels of a run, those first that take one away.
func labelEntries(s *journal.State, set map[string]string, remove []string) (entries []journal.Entry) {
	for _, key := range remove {
		if _, there := s.Labels[key]; there {
			entries = append(entries, journal.Label(key, ""))
		}
	}
	for _, key := range slices.Sorted(maps.Keys(set)) {
		if was, there := s.Labels[key]; !there || was != set[key] || slices.Contains(remove, key) {
			entries = append(entries, journal.Label(key, set[key]))
		}
	}
	return entries
}

// LabelError says what is wrong with labels. Nothing was written.
type LabelError struct{ Err error }

func (e *LabelError) Error() string { return e.Err.Error() }
func (e *LabelError) Unwrap() error { return e.Err }

// validateLabels says what is wrong with labels. Errors: *LabelError.
func validateLabels(set map[string]string, remove ...string) error {
	if len(set) > journal.MaxLabels {
		return &LabelError{fmt.Errorf("%d labels, at most %d are allowed", len(set), journal.MaxLabels)}
	}
	for _, text := range labelTexts(set) {
		if _, value, err := journal.ParseLabel(text); err != nil {
			return &LabelError{err}
		} else if value == "" {
			return &LabelError{fmt.Errorf("label %s has no value", text)}
		}
	}
	for _, key := range remove {
		if err := journal.ValidateLabelKey(key); err != nil {
			return &LabelError{err}
		}
	}
	return nil
}

// labelTexts are labels as KEY=VALUE, by their keys.
func labelTexts(set map[string]string) (texts []string) {
	for _, key := range slices.Sorted(maps.Keys(set)) {
		texts = append(texts, key+"="+set[key])
	}
	return texts
}
