//go:build vips && cgo

package vips

import (
	"testing"

	"github.com/fsmcp/fsmcp/internal/media/enginetest"
	"github.com/fsmcp/fsmcp/internal/media/goengine"
	"github.com/fsmcp/fsmcp/internal/media/webpwriter"
)

func TestEngine(t *testing.T) {
	complaints, err := Overhear()
	if err != nil {
		t.Fatal(err)
	}
	enginetest.Run(t, Engine{Engine: goengine.Engine{WebP: webpwriter.Encode}, Complaints: complaints})
}
