package main

import (
	"regexp"
	"strings"
)

// replacement is something that differs from one run to the next in what the command prints, and what stands for it.
type replacement struct {
	is *regexp.Regexp
	as string
}

// placeholders are for what has a name on the pages.
var placeholders = []replacement{
	{regexp.MustCompile(`127\.0\.0\.1:\d+`), "127.0.0.1:PORT"},
	{regexp.MustCompile(`\d{4}-\d\d-\d\d([ T])\d\d:\d\d:\d\d(\.\d+)?`), "2026-12-01${1}12:00:00"},
	{regexp.MustCompile(`\d{8}T\d{6}\.\d{9}Z`), "20261201T120000.000000000Z"},
	{regexp.MustCompile(`\d\d:\d\d:\d\d`), "12:00:00"},
	{regexp.MustCompile(`request of \d+ bytes`), "request of N bytes"},
	{regexp.MustCompile(`\b[0-9a-f]{64}\b`), strings.Repeat("0123456789abcdef", 4)},
	{regexp.MustCompile(`\b[0-9a-f]{32}\b`), "0123456789abcdef0123456789abcdef"},
	{regexp.MustCompile(`(digest|journal) [0-9a-f]{12}\b`), "$1 0123456789ab"},
	{regexp.MustCompile(`(?m)^(    \| )?compil(ing|ed) .*\n`), ""},
	{regexp.MustCompile(`(?m)^bash: line \d+: +\d+ Killed .*\n`), ""},
}

// alike is what differs with the compiler that built a tool, and with time; pages show it as it was once.
var alike = []replacement{
	{regexp.MustCompile(`fuel (\d+|N)`), "fuel N"},
	{regexp.MustCompile(`[\d.]+ [kM]B\b`), "SIZE"},
	{regexp.MustCompile(`\((\d+m)?[\d.]+(µs|ms|s)\)`), "(31ms)"},
}

// tidy is what the command printed, as a page has it.
func tidy(s string) string { return replace(s, placeholders) }

// normal is what the command printed, without what differs from one run to the next.
func normal(s string) string { return replace(tidy(s), alike) }

func replace(s string, all []replacement) string {
	for _, r := range all {
		s = r.is.ReplaceAllString(s, r.as)
	}
	return s
}

// columns are as wide as what differs.
var columns = regexp.MustCompile(`(\S) {2,}`)

// squeezed is normal, with columns that are two blanks apart.
func squeezed(s string) string {
	return columns.ReplaceAllString(strings.TrimSpace(normal(s)), "$1  ")
}
