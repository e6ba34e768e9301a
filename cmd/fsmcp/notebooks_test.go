package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/deepteams/webp"
	"github.com/rogpeppe/go-internal/testscript"
)

// fixture NAME FILE copies a notebook of testdata/notebooks.
func fixture(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, args, 2, "fixture NAME FILE")
	b, err := os.ReadFile(filepath.Join("..", "..", "testdata", "notebooks", args[0]+".ipynb"))
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), b, 0o666))
}

// pictures FILE KIND:WIDTHxHEIGHT... writes a notebook with one code cell for
// each, p-0 and on, whose one output is a picture of noise: png, jpeg, gif or webp.
// One of kind "bad" is no base64, one of kind "fake" is no picture. Several with
// "+" between them are of one cell.
func pictures(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, args, 2, "pictures FILE KIND:WIDTHxHEIGHT...")
	var cells []any
	for i, spec := range args[1:] {
		var outputs []any
		for j, one := range strings.Split(spec, "+") {
			kind, size, _ := strings.Cut(one, ":")
			mime := "image/png"
			if kind == "jpeg" || kind == "gif" || kind == "webp" {
				mime = "image/" + kind
			}
			outputs = append(outputs, map[string]any{"output_type": "display_data", "metadata": map[string]any{}, "data": map[string]any{
				mime: noise(ts, kind, size), "text/plain": []string{fmt.Sprintf("the plain form of %d.%d", i, j)},
			}})
		}
		cells = append(cells, map[string]any{
			"cell_type": "code", "id": fmt.Sprint("p-", i), "metadata": map[string]any{}, "execution_count": i + 1,
			"source": []string{fmt.Sprintf("plot(%d)", i)}, "outputs": outputs,
		})
	}
	raw, err := json.MarshalIndent(map[string]any{"cells": cells, "metadata": map[string]any{}, "nbformat": 4, "nbformat_minor": 5}, "", " ")
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), append(raw, '\n'), 0o666))
}

// noise is a picture that cannot be packed, in base64 of lines as nbformat
// writes it.
func noise(ts *testscript.TestScript, kind, size string) string {
	switch kind {
	case "bad":
		return "no base64 at all!\n"
	case "fake":
		return base64.StdEncoding.EncodeToString([]byte("not a picture")) + "\n"
	}
	var w, h int
	_, err := fmt.Sscanf(size, "%dx%d", &w, &h)
	ts.Check(err)
	img := image.NewNRGBA(image.Rect(0, 0, w, h))
	r := rand.New(rand.NewPCG(1, 2))
	for i := range img.Pix {
		img.Pix[i] = byte(r.Uint32()) | 0xff*byte((i%4)/3)
	}
	var b bytes.Buffer
	switch kind {
	case "jpeg":
		ts.Check(jpeg.Encode(&b, img, nil))
	case "gif":
		ts.Check(gif.Encode(&b, img, nil))
	case "webp":
		ts.Check(webp.Encode(&b, img, nil))
	default:
		ts.Check(png.Encode(&b, img))
	}
	text := base64.StdEncoding.EncodeToString(b.Bytes())
	var lines strings.Builder
	for len(text) > 0 {
		n := min(76, len(text))
		lines.WriteString(text[:n] + "\n")
		text = text[n:]
	}
	return lines.String()
}

// blocks KIND... compares the kinds of the last answer's content blocks: text,
// or a picture's media type. Pictures must be base64 without white space, and
// no text may hold any base64 of theirs.
func (d *driver) blocks(ts *testscript.TestScript, neg bool, args []string) {
	var answer struct {
		Content []struct{ Type, Text, Data, MimeType string }
	}
	ts.Check(json.Unmarshal(d.last.Raw, &answer))
	var kinds []string
	for _, b := range answer.Content {
		kind := b.Type
		if b.Type == "image" {
			kind = b.MimeType
			raw, err := base64.StdEncoding.DecodeString(b.Data)
			ts.Check(err)
			_, _, err = image.DecodeConfig(bytes.NewReader(raw))
			ts.Check(err)
			for _, other := range answer.Content {
				if len(b.Data) > 40 && strings.Contains(other.Text, b.Data[:40]) {
					ts.Fatalf("base64 stands in a text")
				}
			}
		}
		kinds = append(kinds, kind)
	}
	if slices.Equal(kinds, args) == neg {
		ts.Fatalf("the answer's blocks are %q and %s be %q", kinds, should(neg), args)
	}
}
