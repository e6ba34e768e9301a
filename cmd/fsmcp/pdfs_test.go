package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"image/jpeg"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/fsmcp/fsmcp/internal/app"
	"github.com/fsmcp/fsmcp/internal/media/decoder"
	"github.com/fsmcp/fsmcp/internal/media/pdftest"
	"github.com/fsmcp/fsmcp/internal/worker"
)

// companion builds fsmcp-media, once for all scripts, where the tests of another
// working copy build none.
var companion = sync.OnceValues(func() (string, error) {
	here, err := os.Getwd()
	if err != nil {
		return "", err
	}
	path := filepath.Join(os.TempDir(), fmt.Sprintf("fsmcp-media-test-%d-%08x", os.Getuid(), crc32.ChecksumIEEE([]byte(here))))
	cmd := exec.Command("go", "build", "-ldflags=-s -w", "-o", path, "github.com/fsmcp/fsmcp/cmd/fsmcp-media")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return path, compileFor(path)
})

// compileFor has the companion compile what it needs into the cache of the tests,
// however long that takes beside them: a call has half a minute.
func compileFor(path string) error {
	pool := worker.New(worker.Options{
		Command: func() (string, []string) { return path, []string{"fsmcp", "media-worker"} },
		Env:     append(workerEnv(), "XDG_CACHE_HOME="+path+"-cache"),
		Memory:  app.WorkerMemory, Jobs: 1, Idle: time.Second,
	})
	defer pool.Close()
	job := decoder.PrepareJob()
	job.Deadline = 5 * time.Minute
	_, err := pool.Do(context.Background(), job)
	return err
}

// useMedia sets $MEDIA to the words that give a server its companion, and the
// code that was compiled for it by an earlier script.
func useMedia(ts *testscript.TestScript, neg bool, args []string) {
	path, compiled, err := driverOf(ts).media()
	ts.Check(err)
	ts.Setenv("MEDIA", path)
	ts.Setenv("COMPILED", compiled)
}

// media returns the companion, and the folder of what was compiled for it.
func (d *driver) media() (path, compiled string, err error) {
	if d.windows != nil {
		return d.windows.media()
	}
	path, err = companion()
	return path, path + "-cache", err
}

// pdf FILE PAGES [EXTRA] writes a PDF of so many pages, with an outline. Each
// page says which it is. EXTRA goes into the catalogue.
func writePDF(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, args, 2, "pdf FILE PAGES [EXTRA]")
	pages, err := strconv.Atoi(args[1])
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), samplePDF(pages, strings.Join(args[2:], "")), 0o666))
}

// samplePDF has pages that each say which they are. extra goes into its catalogue.
func samplePDF(pages int, extra string) []byte {
	return pdftest.Pages(pages, extra, func(page int) string {
		return fmt.Sprintf("BT /F1 24 Tf 72 700 Td (This is page %d of the sample.) Tj ET", page)
	})
}

// drawings FILE PAGES writes such a PDF with a box on each page, which so is more than
// text alone.
func writeDrawings(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, args, 2, "drawings FILE PAGES")
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), drawingsPDF(number(ts, args, 1)), 0o666))
}

func drawingsPDF(pages int) []byte {
	return pdftest.Pages(pages, "", func(page int) string {
		return fmt.Sprintf("BT /F1 24 Tf 72 700 Td (This is page %d of the sample.) Tj ET 72 500 100 50 re f", page)
	})
}

// scans FILE PAGES SIZE writes a PDF of so many pages without text. Each page is a picture
// of SIZE x SIZE dots that cannot be packed.
func writeScans(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, args, 3, "scans FILE PAGES SIZE")
	pages, size := number(ts, args, 1), number(ts, args, 2)
	var picture bytes.Buffer
	ts.Check(jpeg.Encode(&picture, drawn(size, size, true), &jpeg.Options{Quality: 90}))
	const first = 5 // the object of the first page
	var kids strings.Builder
	for i := range pages {
		fmt.Fprintf(&kids, "%d 0 R ", first+i)
	}
	objects := []string{
		"<</Type/Catalog/Pages 2 0 R>>",
		fmt.Sprintf("<</Type/Pages/Count %d/Kids[%s]/MediaBox[0 0 595 842]/Resources<</XObject<</I 4 0 R>>>>>>", pages, kids.String()),
		pdftest.Stream("", "q 595 0 0 842 0 0 cm /I Do Q"),
		pdftest.Stream(fmt.Sprintf("/Type/XObject/Subtype/Image/Width %d/Height %d/BitsPerComponent 8/ColorSpace/DeviceRGB/Filter/DCTDecode", size, size), picture.String()),
	}
	for range pages {
		objects = append(objects, "<</Type/Page/Parent 2 0 R/Contents 3 0 R>>")
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), pdftest.File(objects...), 0o666))
}

// contentAtMost bounds the size of the last answer's content array as it is sent.
func (d *driver) contentAtMost(ts *testscript.TestScript, neg bool, args []string) {
	var answer struct{ Content json.RawMessage }
	ts.Check(json.Unmarshal(d.last.Raw, &answer))
	ts.Logf("the content array has %d bytes", len(answer.Content))
	if n := number(ts, args, 0); (len(answer.Content) > n) != neg {
		ts.Fatalf("the content array has %d bytes; more than %d: %v", len(answer.Content), n, !neg)
	}
}
