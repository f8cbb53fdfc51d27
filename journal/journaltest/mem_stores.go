package journaltest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"

	"github.com/wrun-dev/wrun/journal"
)

// Get returns a key's value and version.
func (m *Mem) Get(ctx context.Context, space, key string) ([]byte, uint64, error) {
	if err := ctx.Err(); err != nil {
		return nil, 0, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed != nil {
		return nil, 0, m.closed
	}
	v, ok := m.kv[memKey{space, key}]
	if !ok || v.deleted {
		return nil, v.version, fmt.Errorf("key %.80q of %.80q: %w", key, space, journal.ErrNotFound)
	}
	return slices.Clone(v.value), v.version, nil
}

// Scan yields the keys of a space that begin with prefix and come behind after.
func (m *Mem) Scan(ctx context.Context, space, prefix, after string) iter.Seq2[journal.Item, error] {
	return func(yield func(journal.Item, error) bool) {
		items, err := m.items(ctx, space, prefix, after)
		if err != nil {
			yield(journal.Item{}, err)
			return
		}
		for _, item := range items {
			if !yield(item, nil) {
				return
			}
		}
	}
}

func (m *Mem) items(ctx context.Context, space, prefix, after string) ([]journal.Item, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed != nil {
		return nil, m.closed
	}
	var items []journal.Item
	for k, v := range m.kv {
		if k.space == space && strings.HasPrefix(k.key, prefix) && k.key > after && !v.deleted {
			items = append(items, journal.Item{Key: k.key, Value: slices.Clone(v.value), Version: v.version})
		}
	}
	slices.SortFunc(items, func(a, b journal.Item) int { return strings.Compare(a.Key, b.Key) })
	return items, nil
}

// Put stores a blob.
func (m *Mem) Put(ctx context.Context, r io.Reader) (journal.Digest, int64, error) {
	b, err := io.ReadAll(r)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return journal.Digest{}, 0, fmt.Errorf("store a blob: %w", err)
	}
	d := journal.DigestOf(b)
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed != nil {
		return journal.Digest{}, 0, m.closed
	}
	if _, ok := m.blobs[d]; !ok {
		if err := m.takeOf(int64(len(b)), m.left-m.held); err != nil {
			return journal.Digest{}, 0, fmt.Errorf("store a blob: %w", err)
		}
	}
	m.blobs[d] = b
	return d, int64(len(b)), nil
}

// Open returns a blob's bytes.
func (m *Mem) Open(ctx context.Context, d journal.Digest) (io.ReadCloser, error) {
	b, err := m.blob(ctx, d)
	if err != nil {
		return nil, err
	}
	return io.NopCloser(bytes.NewReader(b)), nil
}

// Stat returns a blob's length.
func (m *Mem) Stat(ctx context.Context, d journal.Digest) (int64, error) {
	b, err := m.blob(ctx, d)
	return int64(len(b)), err
}

func (m *Mem) blob(ctx context.Context, d journal.Digest) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed != nil {
		return nil, m.closed
	}
	b, ok := m.blobs[d]
	if !ok {
		return nil, fmt.Errorf("blob %s: %w", d.Short(), journal.ErrNotFound)
	}
	return slices.Clone(b), nil
}

// Owner returns the handle's id.
func (m *Mem) Owner() (string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.owner, m.closed
}

// Liveness tells whether a handle was closed or killed.
func (m *Mem) Liveness(owner string) (journal.Liveness, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.owners[owner], m.closed
}

// Describe says which handle an owner is.
func (m *Mem) Describe(owner string) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.owners[owner] == journal.Unknown {
		return ""
	}
	return "handle " + owner
}
