//go:build !unix

package boltdb_test

import (
	"context"
	"errors"

	"github.com/wrun-dev/wrun/journal/boltdb"
)

func childFill(context.Context, *boltdb.Journal) error {
	return errors.New("no limit of file sizes here")
}

func mkfifo(string) error { return errors.New("there are no pipes with names here") }
