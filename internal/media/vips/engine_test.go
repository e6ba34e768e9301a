//go:build vips && cgo

package vips

import (
	"testing"

	"github.com/fsmcp/fsmcp/internal/media/enginetest"
	"github.com/fsmcp/fsmcp/internal/media/goengine"
	"github.com/fsmcp/fsmcp/internal/media/webpwriter"
)

func TestEngine(t *testing.T) {
	enginetest.Run(t, Engine{goengine.Engine{WebP: webpwriter.Encode}})
}
