package plan

import "github.com/wrun-dev/wrun/internal/jq"

// piece is a part of a text: literal, or an expression without its "${" and "}".
type piece struct {
	text string
	expr bool
}

// split takes a text apart as every file of wrun does.
func split(s string) ([]piece, error) {
	found, err := jq.Split(s)
	if err != nil {
		return nil, err
	}
	var pieces []piece
	for _, p := range found {
		pieces = append(pieces, piece{text: p.Text, expr: p.Expr})
	}
	return pieces, nil
}
